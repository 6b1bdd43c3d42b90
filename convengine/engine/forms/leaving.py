"""Leaving a form before it is done."""

from enum import StrEnum

from convengine.engine.forms.asking import find_form_language, get_texts
from convengine.engine.forms.form import Form
from convengine.engine.forms.interrupted import may_interrupt
from convengine.engine.forms.life import OnLeave, is_final_state, keep_for_person, leave_form, read_on_leave
from convengine.engine.forms.message import find_open_schema, is_bare_answer, read_message, understand_message
from convengine.engine.forms.session_form import find_asked_field, get_current_form
from convengine.engine.forms.stages import FORM_LEAVE_ASKED, FORM_LEFT
from convengine.engine.forms.store_reading import TABLES_THEN_WORDS, find_extractor
from convengine.engine.forms.user_answer import may_say, read_yes_or_no, says, says_only
from convengine.engine.turn.dialogue_state import DialogueState, update_dialogue
from convengine.engine.turn.enums import DialogueAct, PolicyDecision
from convengine.engine.turn.owned_params import FormParams, RoutingParams
from convengine.engine.turn.rows import Intent, OutputSchema
from convengine.engine.turn.session import ReplyOverride, Session
from convengine.engine.turn.turn import Turn
from convengine.engine.understanding.moves import MoveKind

#: Source of these answers.
SOURCE = "FORM"
#: Whether a bare answer to the question of leaving is a yes.
_ACT_ANSWERS = {DialogueAct.AFFIRM.value: True, DialogueAct.NEGATE.value: False}


class LeaveDecision(StrEnum):
    """What a message means for the form that it may leave; the values of the input param `form_leave`."""

    ASK = "ASK"
    LEAVE = "LEAVE"
    STAY = "STAY"


def decide_leaving(session: Session, turn: Turn) -> LeaveDecision | None:
    """What follows from a wish to leave, or from the answer to "Do you want to stop?". None for other messages."""
    following = DialogueState.of(session).leaving
    if says(session, turn, MoveKind.PERSON):
        return None  # "That is too complicated, I'd rather talk to somebody"
    row = find_left_schema(session, turn)
    if row is None:
        return None
    wants = says(session, turn, MoveKind.LEAVE)
    if wants:
        reading = read_message(session, turn, row)
        wants = not (reading.taken or reading.cleared)  # "Never mind, Friday is fine"
    if following is not None:
        return _decide_asked(session, turn, following, wants=wants)
    if session.routing.policy_decision == PolicyDecision.EXECUTE_PENDING_ACTION:
        return None
    return decide_on_leave(session, turn, row) if wants else None


def _decide_asked(session: Session, turn: Turn, following: str, *, wants: bool) -> LeaveDecision | None:
    """What follows from the answer to "Do you want to stop?"; None for a message that is no answer.

    `following`: the subject that the user asked for; blank for none. `wants`: the message says again that it stops.
    """
    if says_only(session, turn, MoveKind.STAY):
        return LeaveDecision.STAY
    answer = True if wants and not following else read_yes_or_no(session, turn)
    if answer is None and session.dialogue.dialogue_act_source == "LLM":
        answer = _ACT_ANSWERS.get(str(session.dialogue.dialogue_act_llm_candidate))
    if answer is None:
        return LeaveDecision.ASK if wants else None  # "Forget it" may mean this form as well as the other subject.
    return LeaveDecision.LEAVE if answer else LeaveDecision.STAY


def may_want_to_leave(session: Session, turn: Turn) -> bool:
    """True for a message that gives the form nothing and may want to stop, or to talk to a person.

    Goodbye may say that, too. Where a model is asked for the words of the message, it decides instead. A message that
    answers "Do you want to stop?", or that a phrase takes, is not asked back.
    """
    row, routed = find_left_schema(session, turn), session.routing.policy_decision
    if row is None or DialogueState.of(session).leaving is not None or says(session, turn, MoveKind.PERSON):
        return False
    if routed == PolicyDecision.EXECUTE_PENDING_ACTION or decide_on_leave(session, turn, row) is None:
        return False
    if DialogueState.of(session).asked_field is None and says(session, turn, MoveKind.AFFIRM, MoveKind.STAY):
        return False  # "The rest is fine, yes"
    farewell = understand_message(session, turn).find_move(MoveKind.FAREWELL)
    is_doubtful = (
        (farewell is not None and (farewell.probability == 1 or not is_bare_answer(session, turn)))
        or may_say(session, turn, MoveKind.LEAVE)
        or bool(find_doubtful_subject(session, turn))
    )
    is_left_to_model = (
        find_asked_field(session, turn) is not None and find_extractor(session, turn) == TABLES_THEN_WORDS
    )
    return is_doubtful and not is_left_to_model and not read_message(session, turn, row).gives_anything


def find_doubtful_subject(session: Session, turn: Turn) -> str:
    """The only intent that hands over, where the message may ask for a person; blank for none."""
    intents = turn.snapshot.hand_over_intents
    return next(iter(intents)) if len(intents) == 1 and may_say(session, turn, MoveKind.PERSON) else ""


def decide_on_leave(session: Session, turn: Turn, row: OutputSchema, intent: str = "") -> LeaveDecision | None:
    """Whether the form may be left at once, for `intent` if one follows, or only after a question.

    Returns None if it stays.
    """
    policy = read_on_leave(session, turn, row)
    if policy is OnLeave.STAY:
        return None
    refuses = session.routing.policy_decision == PolicyDecision.REJECT_PENDING_ACTION
    asks = policy is OnLeave.ASK and not refuses and not may_interrupt(session, turn, row, intent)
    has_values = get_current_form(session, turn, row).status(session.context).has_any_value
    return LeaveDecision.ASK if asks and has_values else LeaveDecision.LEAVE


def notices_other_subjects(session: Session, turn: Turn, row: OutputSchema) -> bool:
    """True when another subject may end the form. While other forms collect, they keep the intent."""
    policy = read_on_leave(session, turn, row)
    return policy is OnLeave.ASK or (policy is OnLeave.LEAVE and "x-on-leave" in row.json_schema)


def find_left_schema(session: Session, turn: Turn) -> OutputSchema | None:
    """The schema of the form that a message may leave; None in a final state, and if the turn is answered already."""
    row = find_open_schema(session, turn)
    if row is None or session.reply_override is not None or session.reset_only:
        return None
    if get_current_form(session, turn, row).problem or is_final_state(turn.snapshot, session.intent, session.state):
        return None
    return row


def ask_to_leave(session: Session, turn: Turn, intent: str = "") -> Session:
    """The session that asks whether to stop, and to go on with `intent` if there is one; writes FORM_LEAVE_ASKED."""
    row = find_left_schema(session, turn)
    texts = get_texts(find_form_language(session, turn, _get_form(session, turn, row)))
    turn.audit(session, FORM_LEAVE_ASKED, schemaId=row.schema_id if row else None, intent=intent or None)
    following = turn.snapshot.row(Intent, intent) if intent else None
    text = texts["ask_switch"].format(title=following.name) if following else texts["ask_leave"]
    session = update_dialogue(session, leaving=intent).with_values(FormParams(form_leave=LeaveDecision.ASK.value))
    return session.evolve(reply_override=ReplyOverride(str(text), SOURCE))


def leave(session: Session, turn: Turn, intent: str = "") -> Session:
    """The session outside of its form; with an answer unless `intent` follows. Writes FORM_LEFT.

    Returns the same session if there is no form to leave, or if `intent` only interrupts it.
    """
    row = find_left_schema(session, turn)
    if row is None or may_interrupt(session, turn, row, intent):
        return session
    texts = get_texts(find_form_language(session, turn, _get_form(session, turn, row)))
    answers = {"answers": "LEAVE_QUESTION"} if DialogueState.of(session).leaving is not None else {}
    turn.audit(session, FORM_LEFT, schemaId=row.schema_id, intent=intent or None, **answers)
    session = keep_for_person(session, turn, row) if intent in turn.snapshot.hand_over_intents else session
    session = leave_form(session, turn, row, "FORM_LEFT").with_values(FormParams(form_leave=LeaveDecision.LEAVE.value))
    return session if intent else session.evolve(reply_override=ReplyOverride(str(texts["cancelled"]), SOURCE))


def stay(session: Session) -> Session:
    """The session that goes on with its form: the answer repeats the open question."""
    return close_leave_question(session).with_values(
        FormParams(form_leave=LeaveDecision.STAY.value), RoutingParams(skip_schema_extraction=True)
    )


def close_leave_question(session: Session) -> Session:
    """The session that no longer waits for the answer to "Do you want to stop?"."""
    return update_dialogue(session, leaving=None)


def _get_form(session: Session, turn: Turn, row: OutputSchema | None) -> Form | None:
    return get_current_form(session, turn, row) if row else None


def find_rest_beside_leaving(session: Session, turn: Turn) -> str:
    """What a message that leaves the form says besides; blank for one that answers "Do you want to stop?"."""
    if DialogueState.of(session).leaving is not None:
        return ""
    understanding = understand_message(session, turn)
    starts = {move.start for move in understanding.moves if move.kind is MoveKind.LEAVE}
    rest = [clause for clause in understanding.clauses if starts.isdisjoint(range(clause.start, clause.end))]
    return ", ".join(understanding.quote(clause.start, clause.end) for clause in rest)
