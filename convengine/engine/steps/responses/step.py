"""ResponseResolutionStep: choose and produce the answer."""

from dataclasses import replace
from typing import Any

from convengine.engine.clarification.collision import ask_collision_question, is_askable
from convengine.engine.dialogue.hand_over import (
    find_hand_over_answer,
    find_hand_over_intent,
    find_handing_flow,
    move_to_hand_over,
    pass_to_person,
)
from convengine.engine.errors import ResponseMappingNotFound
from convengine.engine.forms.asking import read_text_setting
from convengine.engine.forms.life import (
    awaits_confirmation,
    find_ended_schema,
    find_most_misses,
    is_final_state,
    keep_for_person,
    leave_form,
)
from convengine.engine.forms.message import read_message, understand_message
from convengine.engine.forms.session_form import FACT_FIELDS
from convengine.engine.forms.settings import HAND_OVER_TEXT
from convengine.engine.forms.user_answer import says
from convengine.engine.pipeline.step import Continue, Step
from convengine.engine.rules.choice import RowChoice, choose_exact_response, choose_response
from convengine.engine.state_graph.allowed_moves import apply_override
from convengine.engine.steps.responses.digression import (
    ask_again,
    is_question_open,
    join_answers,
    note_answer,
    repeat_open_question,
    view_digression,
)
from convengine.engine.steps.responses.documents import DOCUMENTS, look_into_documents, write_found
from convengine.engine.steps.responses.form_question import ask_for_change, ask_next_field, clear_done_form, is_asking
from convengine.engine.steps.responses.go_back import go_back
from convengine.engine.steps.responses.not_understood import (
    count_not_understood,
    follows_an_end,
    is_not_understood,
    lacks_model,
    note_small_talk,
    offer_hand_over,
    offers_hand_over,
    write_hand_over,
    write_not_understood,
    write_small_talk,
)
from convengine.engine.steps.responses.settings import FALLBACK_TEXT, MODEL_UNAVAILABLE_TEXT, ON_MISSING
from convengine.engine.steps.responses.stages import (
    FORM_GIVEN_UP,
    HAND_OVER_DISABLED,
    PERSON_WANTED,
    RESOLVE_RESPONSE,
    RESPONSE_EXACT,
    RESPONSE_MAPPING_NOT_FOUND,
)
from convengine.engine.steps.responses.write_answer import LLM, transform_payload, write_answer
from convengine.engine.text.compare import blank, code
from convengine.engine.threads.ending import choose_edge_reply
from convengine.engine.threads.open_question import drop_hidden_buttons
from convengine.engine.threads.settings import FRESH_START_TEXT, STALE_TEXT
from convengine.engine.turn.dialogue_state import DialogueState, update_dialogue
from convengine.engine.turn.enums import DecisionKind
from convengine.engine.turn.facts import audit_transformed, collect_schema_values
from convengine.engine.turn.payload import JsonPayload, Payload, TextPayload, to_document
from convengine.engine.turn.rows import Response
from convengine.engine.turn.scope import (
    HAND_OVER,
    INTENT_COLLISION,
    NOT_UNDERSTOOD,
    UNKNOWN,
    is_resolved,
    is_state_resolved,
)
from convengine.engine.turn.session import Digression, Session
from convengine.engine.turn.stages import ASSISTANT_OUTPUT
from convengine.engine.turn.turn import Turn
from convengine.engine.understanding.moves import MoveKind

#: Overrides that come before the question of an intent collision.
_FIRST = frozenset({"RESET", "RESUME", "GUARDRAIL"})

#: Sources of the answers after an end, and of those that lack a model.
SMALL_TALK = "SMALL_TALK"
MODEL_UNAVAILABLE = "MODEL_UNAVAILABLE"
#: The source of the answer to a message that only asks for a language.
LANGUAGE = "LANGUAGE"

#: The stage of every answer, whatever decided it.
FINAL = "FINAL"


class ResponseResolutionStep(Step):
    """Choose an override, else the collision question, else the configured answer."""

    after = ("StateGraphStep",)
    rank = 2400
    always_runs = True
    requires_persisted = True
    writes = frozenset(
        {
            "payload", "last_assistant", "last_llm_output", "last_llm_stage", "clarification", "intent", "state",
            "transitions", "reply_override", "context", "form_question", "form_summary", "dialogue", "digression",
            "cards", "user_text", *FACT_FIELDS,
        }
    )  # fmt: skip

    def execute(self, session: Session, turn: Turn) -> Continue:
        """Set the answer of the turn, and keep its buttons if users see them.

        Raises ResponseMappingNotFound when no row matches and ON_MISSING is ERROR, and the errors of a model's answer.
        """
        return Continue(drop_hidden_buttons(_answer(session, turn), turn))


def _answer(session: Session, turn: Turn) -> Session:
    override = session.reply_override
    if override and override.source in _FIRST:
        return _override(session, turn, override.text, override.source)
    if session.digression:
        session = _answer_digression(session, turn, session.digression)
        if session.only_digresses:
            return session
    if code(session.state) == INTENT_COLLISION and is_askable(session, turn.snapshot):
        session, question = ask_collision_question(session, turn)
        return _set_answer(session, turn, TextPayload(question), "COLLISION")
    if override := override or choose_edge_reply(session, turn):
        session = session.evolve(reply_override=override)
        return _override(session, turn, override.text, override.source)
    return pass_to_person(clear_done_form(_answer_by_row(session, turn), turn), turn)


def _answer_by_row(session: Session, turn: Turn) -> Session:
    """The session with the answer of the state, or with what replaces it: small talk, a person, another question."""
    session = update_dialogue(note_small_talk(session, turn), offered={})
    # A form that was left for a person has a text of its own.
    answering = find_handing_flow(session, turn) or session.intent
    choice = choose_response(turn.snapshot, answering, session.state)
    ended = follows_an_end(session, turn) and (choice.winner is None or is_state_resolved(session.state))
    if ended and (text := write_small_talk(session, turn)):
        session = ask_next_field(count_not_understood(session, turn, False), turn)
        return _override(session, turn, text, SMALL_TALK)
    asking_row = session.resolved_schema
    session, special_state = _find_special_state(session, turn, choice.winner)
    session, special = _choose_special_row(session, turn, special_state)
    session = ask_next_field(session, turn)
    if session.cards:
        text = "\n\n".join(filter(None, [write_found(session, turn), session.form_question]))
        return _override(session, turn, text, DOCUMENTS)
    if special_state == MODEL_UNAVAILABLE:
        text = f"{read_text_setting(session, turn, MODEL_UNAVAILABLE_TEXT)} {session.form_question}".rstrip()
        return _override(session, turn, text, MODEL_UNAVAILABLE)
    if asking := ask_for_change(session, turn):
        return _set_answer(asking, turn, TextPayload(asking.form_question), "QUESTION")
    if special:
        session = ask_again(session, turn, choice.winner) if special_state == NOT_UNDERSTOOD else session
        return _answer_by(special, session, turn, session.intent, special_state)
    if special_state == HAND_OVER:
        return _override(session, turn, write_hand_over(session, turn, asking_row), HAND_OVER)
    if ended and special_state == NOT_UNDERSTOOD:
        choice = choose_response(turn.snapshot, UNKNOWN, UNKNOWN)
        if choice.winner is None:
            return _override(session, turn, write_not_understood(session, turn), NOT_UNDERSTOOD)
    return _answer_by(choice, session, turn, answering, session.state)


def _answer_by(
    choice: RowChoice[Response], session: Session, turn: Turn, intent: str | None, state: str | None
) -> Session:
    """The session with the answer of the chosen row of a scope, or with the answer without one."""
    row = choice.decide(session, turn, DecisionKind.RESPONSE, intent=intent, state=state)
    if row is None:
        return _answer_without_row(session, turn)
    turn.audit(session, RESOLVE_RESPONSE, responseId=row.response_id, **session.where)
    payload, stage = write_answer(row, session, turn)
    session = session.evolve(last_llm_output=payload.value, last_llm_stage=stage)
    if stage != RESPONSE_EXACT and isinstance(payload, JsonPayload):
        session = apply_override(session, turn, payload.value)
    payload = transform_payload(payload, session, turn, LLM, row_id=row.response_id)
    return _set_answer(session, turn, payload, row.response_type, responseId=row.response_id)


def _choose_special_row(
    session: Session, turn: Turn, special_state: str | None
) -> tuple[Session, RowChoice[Response] | None]:
    """The session, which a hand-over moves to its intent, and the rows of a special state; None without any."""
    special = choose_exact_response(turn.snapshot, session.intent, special_state) if special_state else None
    if special_state == HAND_OVER and special is None and (intent := find_hand_over_intent(turn.snapshot)):
        return move_to_hand_over(session, intent), choose_response(turn.snapshot, intent, HAND_OVER)
    if special_state == HAND_OVER and special is None and not turn.config(session, HAND_OVER_TEXT):
        special = choose_exact_response(turn.snapshot, find_hand_over_answer(turn.snapshot), HAND_OVER)
    elif special and any(hop.cause == "FORM_GIVEN_UP" for hop in session.transitions):
        session = move_to_hand_over(session, str(session.intent))
    return session, special


def _answer_digression(session: Session, turn: Turn, digression: Digression) -> Session:
    """The session with the answer of the intent that was asked in between.

    If the message asks nothing else, the whole answer of the turn is set. Without a row there is no digression.
    """
    if digression.answer is not None:
        return _answer_in_language(session, turn)
    view = view_digression(session, digression)
    choice = choose_response(turn.snapshot, digression.intent, digression.state)
    row = choice.decide(session, turn, DecisionKind.RESPONSE, intent=digression.intent, state=digression.state)
    if row is None:
        # Its phrase counted, so an answer was there: none of this release, though, is of an enabled intent.
        return session.evolve(digression=None)
    turn.audit(session, RESOLVE_RESPONSE, responseId=row.response_id, **view.where)
    payload, stage = write_answer(row, view, turn)
    session = session.evolve(last_llm_output=payload.value, last_llm_stage=stage)
    payload = transform_payload(payload, session, turn, LLM, row_id=row.response_id)
    session = note_answer(session, turn, digression, payload)
    if not session.only_digresses:
        return session
    session = repeat_open_question(session, turn, choose_response(turn.snapshot, session.intent, session.state).winner)
    question = session.digression.question if session.digression else ""
    return _set_answer(session, turn, TextPayload(question), row.response_type, responseId=row.response_id)


def _answer_in_language(session: Session, turn: Turn) -> Session:
    """The session after a message that only asked for a language: the open question in it, where one is open."""
    is_open = is_resolved(session.intent)
    row = choose_response(turn.snapshot, session.intent, session.state).winner if is_open else None
    session = repeat_open_question(session.evolve(user_text=turn.request.message), turn, row)
    question = session.digression.question if session.digression else ""
    return _set_answer(session, turn, TextPayload(question), LANGUAGE)


def _find_special_state(session: Session, turn: Turn, answer: Response | None) -> tuple[Session, str | None]:
    """The state whose answer replaces `answer`, and the session after it was found. The state is None for no change.

    Such states: HAND_OVER, NOT_UNDERSTOOD, and MODEL_UNAVAILABLE, which has no rows.
    """
    if _is_given_up(session, turn):
        return _give_up(session, turn), HAND_OVER
    wants_person = _wants_person(session, turn)
    if wants_person and (with_person := _hand_over(session, turn)):
        turn.audit(session, PERSON_WANTED)
        return with_person, HAND_OVER
    not_understood = wants_person or is_not_understood(session, turn, answer)
    if not_understood and not wants_person:
        session = look_into_documents(session, turn)
        not_understood = not session.cards
    if not_understood and lacks_model(turn):
        return session, MODEL_UNAVAILABLE
    session = count_not_understood(session, turn, not_understood)
    if not not_understood:
        return session, None
    if _only_person_helps(session, turn):
        return offer_hand_over(session, turn), HAND_OVER
    return session, NOT_UNDERSTOOD


def _is_given_up(session: Session, turn: Turn) -> bool:
    """True if the user missed the asked field too often, and no rule goes on."""
    schema = session.resolved_schema
    if schema is None or session.schema_complete or any(hop.cause == "RULE" for hop in session.transitions):
        return False
    return DialogueState.of(session).misses >= find_most_misses(session, turn, schema)


def _give_up(session: Session, turn: Turn) -> Session:
    """The session after leaving its form, if it has one; writes FORM_GIVEN_UP."""
    state, schema = DialogueState.of(session), session.resolved_schema
    turn.audit(
        session,
        FORM_GIVEN_UP,
        field=state.asked_field,
        misses=state.misses,
        schemaId=schema.schema_id if schema else None,
    )
    session = update_dialogue(session, not_understood_count=0)
    if schema is None:
        return session
    return leave_form(keep_for_person(session, turn, schema), turn, schema, "FORM_GIVEN_UP")


def _only_person_helps(session: Session, turn: Turn) -> bool:
    """True where what a form has done is to be undone, or where too little was understood in a row."""
    undoes = says(session, turn, MoveKind.LEAVE, MoveKind.CORRECT) and find_ended_schema(session, turn) is not None
    if undoes and choose_exact_response(turn.snapshot, session.intent, HAND_OVER):
        return True
    if not offers_hand_over(session, turn) or is_asking(session) or awaits_confirmation(session, turn):
        return False  # Nobody loses all values of a form because of a yes that is not understood.
    # Without such answers, everything stays as it is.
    answers = (choose_exact_response(turn.snapshot, session.intent, state) for state in (HAND_OVER, NOT_UNDERSTOOD))
    return any(answers) or find_hand_over_intent(turn.snapshot) is not None


def _wants_person(session: Session, turn: Turn) -> bool:
    """True if the user asks for a person and no intent takes that up.

    The name of a field asks for nobody, nor does an option of the asked field.
    """
    read, row = session.fields_read, session.resolved_schema
    is_said = read.wants_person or says(session, turn, MoveKind.PERSON)
    if session.intent_source or session.digression or not is_said or read.asked_field in read.read:
        return False
    understanding = understand_message(session, turn)
    person = understanding.find_move(MoveKind.PERSON)
    if person is None or row is None:
        return True
    start = understanding.words[person.start].start
    return not any(first <= start < last for _, first, last in read_message(session, turn, row).names)


def _hand_over(session: Session, turn: Turn) -> Session | None:
    """The session that a person gets, because the user wants one. Returns None if nothing hands over."""
    snapshot = turn.snapshot
    if session.resolved_schema and not is_final_state(snapshot, session.intent, session.state):
        return _give_up(session, turn)
    is_own = choose_exact_response(snapshot, session.intent, HAND_OVER) is not None
    if is_own or any(find(snapshot) is not None for find in (find_hand_over_intent, find_hand_over_answer)):
        return update_dialogue(session, not_understood_count=0)
    if disabled := snapshot.disabled_hand_over_intents:
        turn.audit(session, HAND_OVER_DISABLED, intents=sorted(disabled))
    return None


def _answer_without_row(session: Session, turn: Turn) -> Session:
    """The answer without a row: to a reset, the question of a form, or the fallback text.

    Raises ResponseMappingNotFound unless ON_MISSING is FALLBACK.
    """
    if session.reset_only:
        return _override(session, turn, read_text_setting(session, turn, FRESH_START_TEXT), "RESET")
    if session.form_question:
        return _set_answer(session, turn, TextPayload(session.form_question), "QUESTION")
    turn.audit(session, RESPONSE_MAPPING_NOT_FOUND, **session.where)
    if turn.config(session, ON_MISSING) == "FALLBACK":
        return _set_answer(session, turn, TextPayload(read_text_setting(session, turn, FALLBACK_TEXT)), "FALLBACK")
    raise ResponseMappingNotFound(
        f"No answer applies to intent {session.intent} in state {session.state}. Add one, or one for ANY, or set "
        "ResponseResolutionStep/ON_MISSING to FALLBACK."
    )


def _override(session: Session, turn: Turn, text: str, source: str) -> Session:
    return _set_answer(session, turn, TextPayload(text), "OVERRIDE", source=source)


def _set_answer(session: Session, turn: Turn, payload: Payload, response_type: str, **details: Any) -> Session:
    """The session with its answer: joined with that to a question in between, and transformed; recorded.

    `details` are further keys of the event.
    """
    row_id = details.get("responseId")
    if session.digression:
        asks = isinstance(payload, TextPayload) and is_question_open(session, turn)
        question = str(payload.value) if asks else ""
        digression = replace(session.digression, question=question)
        session = session.evolve(digression=digression)
        joined = join_answers(payload, session, turn)
        own = digression.answer if session.only_digresses else payload
        audit_transformed(session, turn, own, joined, by="DIGRESSION", kind="DIGRESSION", responseId=row_id)
        payload = joined
    session, shown = go_back(session, turn, payload)
    audit_transformed(session, turn, payload, shown, by="FORM_RESUMED", kind="FORM_RESUMED", responseId=row_id)
    payload = shown
    if turn.request.after_stale and isinstance(payload, TextPayload):
        text = turn.config(session, STALE_TEXT)
        shown = payload if blank(text) else replace(payload, value=f"{text}\n\n{payload.value}")
    audit_transformed(session, turn, payload, shown, by="STALE_TEXT", kind="STALE", responseId=row_id)
    payload = transform_payload(shown, session, turn, FINAL, row_id=row_id)
    buttons = payload.buttons if isinstance(payload, TextPayload) else ()
    session = update_dialogue(session, buttons=tuple(map(list, buttons)))
    session = session.evolve(payload=payload, last_assistant=to_document(payload))
    turn.audit(
        session,
        ASSISTANT_OUTPUT,
        output=payload.value,
        outputFormat="JSON" if isinstance(payload, JsonPayload) else "TEXT",
        responseType=response_type,
        **details,
        **session.where,
        context=session.context,
        schemaJson=collect_schema_values(session),
    )
    return session
