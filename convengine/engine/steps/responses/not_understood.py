"""A message that is no request: one that nobody understood, or one after an end, as thanks or a greeting.

After an end, the last answer of a form must not come again, because its fields have left the context. The same holds
for the answer of an intent that answers and returns, because nobody asked for it again. After too many messages that
nobody understood, a person is offered.
"""

from collections.abc import Mapping
from typing import Any

from convengine.engine.forms.asking import find_form_language, get_texts, quote_sentence
from convengine.engine.forms.life import begins_something, find_ended_schema
from convengine.engine.forms.session_form import get_current_form
from convengine.engine.forms.settings import HAND_OVER_TEXT, MAX_MISSES
from convengine.engine.forms.user_answer import says, says_only
from convengine.engine.llm.faults import ModelFault
from convengine.engine.prompts.chosen_text import choose_text
from convengine.engine.prompts.render import render_lenient
from convengine.engine.prompts.variables import build_variables
from convengine.engine.steps.responses.stages import HAND_OVER_OFFERED, NOT_UNDERSTOOD
from convengine.engine.text.compare import blank, code
from convengine.engine.turn.dialogue_state import DialogueState, update_dialogue
from convengine.engine.turn.enums import DialogueAct, PolicyDecision, ResponseType, RoutingDecision
from convengine.engine.turn.owned_params import DialogueParams
from convengine.engine.turn.rows import OutputSchema, Response
from convengine.engine.turn.scope import HAND_OVER, INTENT_COLLISION, is_resolved
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from convengine.engine.understanding.moves import MoveKind

#: Routes and decisions that leave the message to be understood.
_OPEN_ROUTES = (None, RoutingDecision.HANDLE_AS_ANSWER, RoutingDecision.CONTINUE_STANDARD_FLOW)
_OPEN_DECISIONS = (None, PolicyDecision.RECLASSIFY_INTENT, PolicyDecision.FILL_PENDING_SLOT)
#: How many intents are named to users who need help.
_MOST_OFFERS = 5


def is_not_understood(session: Session, turn: Turn, answer: Response | None) -> bool:
    """True when nothing in this turn took the message up. `answer` is the row that would answer."""
    if blank(session.user_text) or _is_taken_up(session):
        return False
    if says_only(session, turn, MoveKind.GREET, MoveKind.THANK, MoveKind.WAIT):
        return False
    return answer is None or code(answer.response_type) != ResponseType.DERIVED


def _is_taken_up(session: Session) -> bool:
    """True when an intent, a form, an action, a tool, a rule or a question took the message up."""
    read, result = session.fields_read, session.tools.tool_result
    # A stored result of an earlier call (`run_once`) answers nothing.
    is_reused = isinstance(result, Mapping) and result.get("reused") is True
    return any(
        (
            session.intent_source,
            session.digression,
            (*read.read, *read.refused, *read.offered, *read.said_again),
            session.transitions,
            session.action.pending_action_result is not None,
            session.tools.mcp_action is not None,
            session.form.form_leave is not None,
            session.tools.tool_status is not None and not is_reused,
            session.routing.routing_decision not in _OPEN_ROUTES,
            session.interaction_decision not in _OPEN_DECISIONS,
            session.reset_reason,
            session.clarification,
            session.reply_override,
        )
    )


def lacks_model(turn: Turn) -> bool:
    """True when the last model call of the turn failed with a fault that may pass."""
    fault = turn.model_calls[-1].answer.error_code if turn.model_calls else None
    return fault is not None and ModelFault(fault, "").recoverable


def count_not_understood(session: Session, turn: Turn, not_understood: bool) -> Session:
    """The session with the number of messages in a row that were not understood; 0 after one that was.

    One that was not also sets the facts for rules and writes NOT_UNDERSTOOD.
    """
    if not not_understood:
        return update_dialogue(session, not_understood_count=0)
    state = DialogueState.of(session)
    count = state.not_understood_count + 1
    turn.audit(session, NOT_UNDERSTOOD, count=count, asked_field=state.asked_field)
    session = update_dialogue(session, not_understood_count=count)
    return session.with_values(DialogueParams(not_understood=True, not_understood_count=count))


def offers_hand_over(session: Session, turn: Turn) -> bool:
    """True when too many messages in a row were not understood."""
    return DialogueState.of(session).not_understood_count >= turn.config(session, MAX_MISSES)


def offer_hand_over(session: Session, turn: Turn) -> Session:
    """The session after the offer, which begins to count again; writes HAND_OVER_OFFERED."""
    turn.audit(session, HAND_OVER_OFFERED, count=DialogueState.of(session).not_understood_count)
    return update_dialogue(session, not_understood_count=0)


def follows_an_end(session: Session, turn: Turn) -> bool:
    """True when a form, an answer or a hand-over of this intent ended earlier, and this message began nothing."""
    if session.digression or blank(session.user_text) or begins_something(session):
        return False
    if code(session.state) == HAND_OVER:
        return True
    return code(session.intent) in turn.snapshot.returning_intents or find_ended_schema(session, turn) is not None


def write_small_talk(session: Session, turn: Turn) -> str | None:
    """The answer to a greeting, thanks, or a bare yes or no after an end. Returns None for other messages."""
    act = session.dialogue.dialogue_act
    if find_ended_schema(session, turn) is not None and says_only(session, turn, MoveKind.LEAVE):
        return None  # Only a person can undo what a form has done.
    if says(session, turn, MoveKind.THANK) and not says(session, turn, MoveKind.ASK):
        key = "reply_thanks"
    elif act == DialogueAct.GREETING or says_only(session, turn, MoveKind.GREET):
        key = "reply_greeting"
    elif act == DialogueAct.NEGATE or says_only(session, turn, MoveKind.NEGATE, MoveKind.FAREWELL, MoveKind.LEAVE):
        key = "reply_no"
    elif act == DialogueAct.AFFIRM or says_only(session, turn, MoveKind.AFFIRM):
        key = "reply_yes"
    else:
        return None
    return str(_get_texts(session, turn, find_ended_schema(session, turn))[key])


def note_small_talk(session: Session, turn: Turn) -> Session:
    """The session whose answer may use the reply to a greeting or thanks, where no intent is known."""
    if is_resolved(session.intent) or blank(session.user_text) or session.reset_reason:
        return session
    greets = session.dialogue.dialogue_act == DialogueAct.GREETING
    thanks = says_only(session, turn, MoveKind.THANK)
    if not (thanks or greets or says_only(session, turn, MoveKind.GREET)):
        return session
    key = "reply_thanks" if thanks else "reply_greeting"
    return session.with_values(DialogueParams(small_talk=str(get_texts(find_form_language(session, turn))[key])))


def write_help(session: Session, turn: Turn) -> str:
    """The answer to "help", or to a message that nobody understood: what can be asked for, tasks before questions."""
    if says(session, turn, MoveKind.PERSON):
        return write_hand_over(session, turn, find_ended_schema(session, turn))
    texts = _get_texts(session, turn, find_ended_schema(session, turn))
    intents = sorted(turn.snapshot.allowed_intents, key=lambda intent: intent.returns)
    # Small talk has no display name. Without any, all are named.
    names = [each.name for each in intents if not blank(each.display_name)] or [each.name for each in intents]
    more = f" {texts['more']}" if len(names) > _MOST_OFFERS else ""
    offers = ", ".join(quote_sentence(name, texts) for name in names[:_MOST_OFFERS]) + more
    if says_only(session, turn, MoveKind.HELP):
        return str(texts["help_with"].replace("{intents}", offers) if offers else texts["reply_greeting"])
    listed = [texts["offers"].replace("{intents}", offers)] if offers else []
    excuse = [] if _refuses_question(session, turn) else [texts["not_understood"]]
    return " ".join([*excuse, texts["other_words"], *listed])


def _refuses_question(session: Session, turn: Turn) -> bool:
    """True if the message refuses all options of an open collision question, and says nothing else."""
    was_asked = any(hop.from_state == INTENT_COLLISION for hop in session.transitions)
    return was_asked and says_only(session, turn, MoveKind.NEGATE, MoveKind.LEAVE)


def write_hand_over(session: Session, turn: Turn, row: OutputSchema | None) -> str:
    """The text of a hand-over without a row of answers: the setting's, else the one of the language of the form."""
    template = choose_text(session, turn, turn.config(session, HAND_OVER_TEXT))
    text = render_lenient(template, build_variables(session, turn)).text if template else ""
    return text or str(_get_texts(session, turn, row)["hand_over"])


def write_not_understood(session: Session, turn: Turn) -> str:
    """The answer to a message after an end that nobody understood, where no row answers."""
    return str(_get_texts(session, turn, find_ended_schema(session, turn))["not_understood"])


def _get_texts(session: Session, turn: Turn, row: OutputSchema | None) -> Mapping[str, Any]:
    """The default texts in the language of a form, else in that of the conversation."""
    return get_texts(find_form_language(session, turn, get_current_form(session, turn, row) if row else None))
