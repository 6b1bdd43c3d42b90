"""Leaving a form before it is done (R113)."""

from enum import StrEnum

from convengine.engine.forms.asking import (
    asks_for_next,
    asks_for_person,
    drop_leaving_clauses,
    drops_subject,
    find_form_language,
    find_form_locale,
    get_texts,
    has_leaving_clause,
    orders_to_stop,
    puts_off_subject,
    says_only,
    skips_field,
    wants_to_leave,
)
from convengine.engine.forms.extract.labels import find_mentions
from convengine.engine.forms.extract.reading import Reading
from convengine.engine.forms.form import Field, Form, get_form
from convengine.engine.forms.life import OnLeave, is_final_state, leave_form, read_on_leave
from convengine.engine.forms.read_message import find_value
from convengine.engine.forms.stages import FORM_LEAVE_ASKED, FORM_LEFT
from convengine.engine.forms.user_answer import find_open_schema, name_subject, read_opening_answer, read_yes_or_no
from convengine.engine.turn.dialogue_state import DialogueState, update_dialogue
from convengine.engine.turn.enums import DialogueAct, PolicyDecision
from convengine.engine.turn.local_time import TIME_ZONE
from convengine.engine.turn.rows import Intent, OutputSchema
from convengine.engine.turn.session import ReplyOverride, Session
from convengine.engine.turn.turn import Turn
from convengine.engine.values import Kind, ReadingSituation, ValueSpan, find_values, is_passing_moment, read_value

#: Source of these answers.
SOURCE = "FORM"
#: Input param that says what became of a wish to leave.
PARAM = "form_leave"
#: So short a name of a field may be another word: "to".
_SHORT_NAME = 2
_ACT_ANSWERS = {DialogueAct.AFFIRM.value: True, DialogueAct.NEGATE.value: False}


class LeaveDecision(StrEnum):
    """What a message means for the form that it may leave; the values of the input param `form_leave`."""

    ASK = "ASK"
    LEAVE = "LEAVE"
    STAY = "STAY"


def decide_leaving(session: Session, turn: Turn) -> LeaveDecision | None:
    """What becomes of a wish to leave, or of the answer to "Do you want to stop?"; null for other messages."""
    following = DialogueState.of(session).leaving
    is_asked = following is not None
    if asks_for_person(session.user_text, must_speak=True):
        return None  # "That is too complicated, I'd rather talk to somebody"
    row = find_left_schema(session, turn)
    if row is None:
        return None
    if is_asked and says_only(session.user_text, "stay"):
        return LeaveDecision.STAY
    wants = _wants_to_leave(session, turn, row)
    if is_asked:
        answer = True if wants and not following else _read_answer(session, turn, row)
        answer = read_opening_answer(session, turn, row) if answer is None else answer
        if answer is None and wants:
            return LeaveDecision.ASK  # "Forget it" may mean this form as well as the other subject.
        return None if answer is None else LeaveDecision.LEAVE if answer else LeaveDecision.STAY
    confirms = session.input_params.get("policy_decision") == PolicyDecision.EXECUTE_PENDING_ACTION
    return decide_on_leave(session, turn, row) if wants and not confirms else None


def _read_answer(session: Session, turn: Turn, row: OutputSchema) -> bool | None:
    """The answer to "Do you want to stop?": its words, else what a model made of them."""
    answer, params = read_yes_or_no(session, turn, row), session.input_params
    if answer is not None or params.get("dialogue_act_source") != "LLM":
        return answer
    return _ACT_ANSWERS.get(str(params.get("dialogue_act_llm_candidate")))


def decide_on_leave(session: Session, turn: Turn, row: OutputSchema) -> LeaveDecision | None:
    """Whether the form may be left at once, or only after a question; null if it stays."""
    policy = read_on_leave(session, turn, row)
    if policy is OnLeave.STAY:
        return None
    refuses = session.input_params.get("policy_decision") == PolicyDecision.REJECT_PENDING_ACTION
    asks = policy is OnLeave.ASK and not refuses
    has_values = get_form(turn.snapshot, row).status(session.context).has_any_value
    return LeaveDecision.ASK if asks and has_values else LeaveDecision.LEAVE


def notices_other_subjects(session: Session, turn: Turn, row: OutputSchema) -> bool:
    """True when another subject may end the form. While other forms collect, they keep the intent."""
    policy = read_on_leave(session, turn, row)
    return policy is OnLeave.ASK or (policy is OnLeave.LEAVE and "x-on-leave" in row.json_schema)


def find_left_schema(session: Session, turn: Turn) -> OutputSchema | None:
    """The schema of the form that a message may leave; null in a final state, and if the turn is answered already."""
    row = find_open_schema(session, turn)
    if row is None or session.reply_override is not None or session.reset_only:
        return None
    if get_form(turn.snapshot, row).problem or is_final_state(turn.snapshot, session.intent, session.state):
        return None
    return row


def ask_to_leave(session: Session, turn: Turn, intent: str = "") -> Session:
    """The session that asks whether to stop, and to go on with `intent` if there is one; writes FORM_LEAVE_ASKED."""
    row = find_left_schema(session, turn)
    texts = get_texts(find_form_language(session, turn, _get_form(turn, row)))
    turn.audit(session, FORM_LEAVE_ASKED, schemaId=row.schema_id if row else None, intent=intent or None)
    following = turn.snapshot.row(Intent, intent) if intent else None
    text = texts["ask_switch"].format(title=following.name) if following else texts["ask_leave"]
    session = update_dialogue(session, leaving=intent).with_params({PARAM: LeaveDecision.ASK.value})
    return session.evolve(reply_override=ReplyOverride(str(text), SOURCE))


def leave(session: Session, turn: Turn, intent: str = "") -> Session:
    """The session outside of its form; with an answer unless `intent` follows. Writes FORM_LEFT."""
    row = find_left_schema(session, turn)
    if row is None:
        return session
    texts = get_texts(find_form_language(session, turn, _get_form(turn, row)))
    turn.audit(session, FORM_LEFT, schemaId=row.schema_id, intent=intent or None)
    session = leave_form(session, turn, row, "FORM_LEFT").with_params({PARAM: LeaveDecision.LEAVE.value})
    return session if intent else session.evolve(reply_override=ReplyOverride(str(texts["cancelled"]), SOURCE))


def stay(session: Session) -> Session:
    """The session that goes on with its form: the answer repeats the open question."""
    return close_leave_question(session).with_params({PARAM: LeaveDecision.STAY.value, "skip_schema_extraction": True})


def close_leave_question(session: Session) -> Session:
    """The session that no longer waits for the answer to "Do you want to stop?"."""
    return update_dialogue(session, leaving=None)


def _get_form(turn: Turn, row: OutputSchema | None) -> Form | None:
    return get_form(turn.snapshot, row) if row else None


def wants_next(session: Session, turn: Turn) -> bool:
    """True when the message asks for one more of what the open form is for."""
    return asks_for_next(session.user_text, name_subject(session, turn))


def find_rest_beside_leaving(session: Session, turn: Turn) -> str:
    """What a message that leaves the form says besides; blank for one that answers "Do you want to stop?"."""
    if DialogueState.of(session).leaving is not None:
        return ""
    return drop_leaving_clauses(session.user_text, name_subject(session, turn))


def _wants_to_leave(session: Session, turn: Turn, row: OutputSchema) -> bool:
    """True when the message only stops, unless it answers the asked field: with its option "cancel", with a no
    ("I don't need it"), or with nothing.

    A message that stops in a clause must not say a value: "never mind, Friday is fine".
    """
    text, form = session.user_text or "", get_form(turn.snapshot, row)
    stops = wants_to_leave(text)
    subject = f"{name_subject(session, turn)} {_name_chosen_options(session, form)}"
    orders = not stops and orders_to_stop(text, subject)
    drops = not (stops or orders) and drops_subject(text, subject)
    puts_off = not stops and puts_off_subject(text)
    if not (stops or orders or drops or puts_off or has_leaving_clause(text)):
        return False
    situation = ReadingSituation(
        turn.ports.clock.now(), turn.config(session, TIME_ZONE), find_form_locale(session, turn, form)
    )
    asked_field = DialogueState.of(session).asked_field
    field = form.field(asked_field) if asked_field else None
    if not has_leaving_clause(text) and field is not None and _skips(session, form, field):
        return False  # "Nah, don't need one"
    if not stops:
        takes_sentences = field is not None and field.spec.long
        mentions = find_mentions(Reading(text), form.leaves) if drops else []
        names_field = any(mention.end - mention.start > _SHORT_NAME for mention in mentions)
        is_no = (drops or puts_off) and field is not None and read_value(field.spec, text, situation).has_value
        spans = find_values([field.spec for field in form.leaves], text, situation)
        says_value = (
            names_field
            or is_no
            or any(
                not is_passing_moment(text[span.start : span.end], situation) and _is_new(session, span)
                for span in spans
            )
        )
        return not takes_sentences and not says_value
    if field is None:
        return True
    if _skips(session, form, field):
        return False
    reading = read_value(field.spec, text, situation)
    says_no = field.spec.kind is Kind.YES_NO and reading.has_value and reading.value is False
    return not (says_no or (field.spec.kind is Kind.CHOICE and reading.has_value))


def _name_chosen_options(session: Session, form: Form) -> str:
    """The words for the options that the form holds: "forget the shelves"."""
    chosen = (
        option
        for field in form.leaves
        for option in field.spec.options
        if option.value == find_value(session.context, field.path)
    )
    return " ".join(spelling for option in chosen for spelling in option.spellings)


def _is_new(session: Session, span: ValueSpan) -> bool:
    """False for a value that the form held before: the shelves of "scrap that, I'll do the shelves myself"."""
    read = session.fields_read.read if session.fields_read else ()
    return not span.readings.keys().isdisjoint(read) or all(
        reading.value != find_value(session.context, path) for path, reading in span.readings.items()
    )


def _skips(session: Session, form: Form, field: Field) -> bool:
    """True when the message leaves the optional field empty that is asked for."""
    return field.path in form.status(session.context).unanswered and skips_field(session.user_text, field)
