"""The message whose intent was not clear: it begins the form of the intent that the next message chooses."""

from convengine.engine.clarification import collision
from convengine.engine.forms.leaving import LeaveDecision
from convengine.engine.forms.message import MOST_CHARACTERS, understand_message
from convengine.engine.forms.user_answer import read_yes_or_no
from convengine.engine.text.compare import code
from convengine.engine.turn.dialogue_state import DialogueState, update_dialogue
from convengine.engine.turn.scope import UNKNOWN
from convengine.engine.turn.session import EarlierMessage, Session
from convengine.engine.turn.turn import Turn
from convengine.engine.understanding.moves import MoveKind


def carry_message(before: Session, after: Session, turn: Turn) -> Session:
    """The session after its intent was resolved: it keeps the message while the question is open, and a form reads it
    once one of the offered intents is chosen.
    """
    asked_about = DialogueState.of(before).asked_about
    if _asks_anew(after):
        # No form begins with a yes, a question or a remark without an intent: "awful weather today, isn't it?".
        understanding = understand_message(before, turn)
        is_asked_back = after.clarification is not None or code(after.intent) != UNKNOWN
        begins_none = understanding.is_bare_move or understanding.find_move(MoveKind.ASK)
        text = (before.user_text or "")[:MOST_CHARACTERS]
        return update_dialogue(after, asked_about=text if is_asked_back or not begins_none else "")
    if not asked_about or after.clarification is not None:
        return after
    after = update_dialogue(after, asked_about="")
    offered = collision.list_offered_intents(before) | {DialogueState.of(before).leaving or ""}
    is_free = before.clarification is None and code(before.intent) == UNKNOWN
    if after.intent_source is None or not (is_free or code(after.intent) in offered):
        return after
    # A yes, and the name or the number of an option, only choose.
    is_all = collision.find_chosen_option(before, turn) is not None or read_yes_or_no(before, turn) is True
    return after.evolve(earlier_message=EarlierMessage(asked_about, is_all))


def _asks_anew(after: Session) -> bool:
    """True when this turn asks which intent is meant, or whether to go on with another one, or knows of none."""
    question = after.clarification
    asks_which = question is not None and not question.from_previous_turn and question.asks == 1
    if asks_which or (question is None and code(after.intent) == UNKNOWN):
        return True
    return bool(DialogueState.of(after).leaving) and after.form.form_leave == LeaveDecision.ASK
