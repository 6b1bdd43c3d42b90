"""The answer to a question in between, and the open question that follows it."""

from dataclasses import replace

from convengine.engine.forms.asking import find_form_language, get_texts, list_filled_fields, write_change_question
from convengine.engine.forms.life import awaits_confirmation
from convengine.engine.forms.session_form import find_known_schema, get_current_form
from convengine.engine.forms.settings import RETURN_TEXT
from convengine.engine.pending_actions.disambiguation import has_open_action
from convengine.engine.pending_actions.record import LIVE, read_record, store_record
from convengine.engine.prompts.chosen_text import choose_text
from convengine.engine.prompts.render import has_expressions, list_names, render_lenient
from convengine.engine.prompts.variables import build_variables
from convengine.engine.steps.responses.form_question import ask_next_field
from convengine.engine.steps.responses.stages import DIGRESSION_ANSWERED
from convengine.engine.text.compare import blank, code
from convengine.engine.text.several_texts import select_text
from convengine.engine.turn.dialogue_state import DialogueState
from convengine.engine.turn.enums import OutputFormat, ResponseType
from convengine.engine.turn.live_settings import Setting
from convengine.engine.turn.payload import Payload, TextPayload
from convengine.engine.turn.rows import Response
from convengine.engine.turn.session import Digression, Session
from convengine.engine.turn.turn import Turn


def view_digression(session: Session, digression: Digression) -> Session:
    """The session as the answer's templates see it: in the intent and state of the question, without a form.

    Only the answer is made with it.
    """
    return session.evolve(
        intent=digression.intent, state=digression.state, resolved_schema=None, missing_required_fields=()
    )


def note_answer(session: Session, turn: Turn, digression: Digression, answer: Payload) -> Session:
    """The session with the answer to the question in between; writes DIGRESSION_ANSWERED.

    An action that waits for a yes waits one turn longer, because this one was no answer to it.
    """
    turn.audit(session, DIGRESSION_ANSWERED, intent=digression.intent, rowId=digression.row_id)
    action = read_record(session)
    if action and action.status in LIVE and action.expires_turn >= 0 and session.only_digresses:
        session = store_record(session, replace(action, expires_turn=action.expires_turn + 1))
    return session.evolve(digression=replace(digression, answer=answer))


def repeat_open_question(session: Session, turn: Turn, row: Response | None) -> Session:
    """The session that asks its open question again: of a form, of an action, or of the state's answer `row`.

    Nothing is counted, and nothing that the dialogue remembers changes.
    """
    before = DialogueState.of(session)
    session = ask_next_field(session, turn)
    question = find_question(session, turn, row, before)
    if not session.form_question:
        session = before.store(session)
    return session.evolve(digression=session.digression and replace(session.digression, question=question))


def join_answers(payload: Payload, session: Session, turn: Turn) -> Payload:
    """The answer to the question in between, followed by the payload; a document stands alone."""
    answer = session.digression.answer if session.digression else None
    if answer is None:
        return payload
    if not isinstance(answer, TextPayload) or not isinstance(payload, TextPayload) or blank(payload.value):
        return answer
    question = payload.value
    if is_question_open(session, turn):
        question = lead_to_question(session, turn, RETURN_TEXT, "return", question=question)
    return TextPayload(f"{answer.value}\n\n{question}", (*answer.buttons, *payload.buttons))


def lead_to_question(session: Session, turn: Turn, setting: Setting[str], key: str, **names: str) -> str:
    """The words that lead to the open question: those of the setting, else of the language. They may use `names`."""
    template, lead = choose_text(session, turn, turn.config(session, setting)), ""
    if template:
        lead = render_lenient(template, build_variables(session, turn, **names)).text.strip()
    if not lead:
        row = session.resolved_schema
        form = get_current_form(session, turn, row) if row else None
        return str(get_texts(find_form_language(session, turn, form))[key]).format(**names)
    return lead if "question" in _list_roots(template) else f"{lead} {names['question']}"


def is_question_open(session: Session, turn: Turn) -> bool:
    """True when the rest of the answer asks something."""
    asks = bool(session.form_question or session.clarification)
    return session.only_digresses or asks or has_open_action(session, turn) or awaits_confirmation(session, turn)


def ask_again(session: Session, turn: Turn, row: Response | None) -> Session:
    """The session whose `question` is the open one of the state's answer `row`, after a message that nobody understood.

    Unchanged if a form asks for a field, or if nothing is open.
    """
    if session.form_question or not (has_open_action(session, turn) or awaits_confirmation(session, turn)):
        return session
    question = find_question(session, turn, row, DialogueState.of(session))
    texts = get_texts(find_form_language(session, turn))
    return session.evolve(form_question=str(texts["ask_again"]).format(question=question)) if question else session


def find_question(session: Session, turn: Turn, row: Response | None, before: DialogueState) -> str:
    """The text of the open question; blank if there is none. `before` is the dialogue before this answer."""
    if session.clarification:
        return session.clarification.question
    known = find_known_schema(session, turn)
    if known and before.asked_field is None and before.listed_options:
        form = get_current_form(session, turn, known)
        return write_change_question(list_filled_fields(form, session.context), find_form_language(session, turn, form))
    template = _read_template(row)
    text = select_text(template, session.conversation_id)
    if session.form_question and (not text or "question" in _list_roots(text)):
        return session.form_question
    if row and text:
        choose_text(session, turn, template, table=row.table, row=row.response_id, field="exact_text")
        return render_lenient(text, build_variables(session, turn)).text.strip()
    return session.form_question or str(session.lifecycle_detail.get("question") or "")


def _read_template(row: Response | None) -> str:
    """The text of a row that no model writes; blank for other rows."""
    if row is None or code(row.response_type) != ResponseType.EXACT or code(row.output_format) != OutputFormat.TEXT:
        return ""
    return row.exact_text or ""


def _list_roots(template: str) -> set[str]:
    return {name.partition(".")[0] for name in list_names(template)} if has_expressions(template) else set()
