"""What the help desk does in a conversation: it writes to the user, and gives the conversation back to the bot."""

from convengine.engine.dialogue.hand_over import HANDED_OVER
from convengine.engine.steps.hand_over.stages import HANDED_BACK, PERSON_ANSWERED
from convengine.engine.turn.dialogue_state import update_dialogue
from convengine.engine.turn.scope import UNKNOWN
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from convengine.json_value import Json
from convengine.server.threads.external_changes import store_external_turn
from convengine.server.turns.idempotency import IdempotencyKey


def answer_as_person(
    conversation_id: str, workspace_id: str, text: str, author: str, key: IdempotencyKey | None = None
) -> dict[str, Json]:
    """Store an answer of a person, who has the conversation from then on (`HandOverStep/HAS_DESK`).

    Raises ConversationNotFound, ConversationClosed, TurnInProgress, TurnConflict.
    """

    def take_over(session: Session, turn: Turn) -> Session:
        turn.audit(session, PERSON_ANSWERED, author=author or None)
        return update_dialogue(session.with_context({HANDED_OVER: True}), person_answers=True)

    return store_external_turn(conversation_id, workspace_id, None, text, take_over, key)


def give_back(
    conversation_id: str, workspace_id: str, text: str, author: str, key: IdempotencyKey | None = None
) -> dict[str, Json]:
    """Give the conversation back to the bot, with a last text of the person or a blank one. The bot begins anew.

    Raises as `answer_as_person`.
    """

    def end(session: Session, turn: Turn) -> Session:
        turn.audit(session, HANDED_BACK, author=author or None, fromIntent=session.intent, fromState=session.state)
        session = update_dialogue(session.without_context(HANDED_OVER), person_answers=False)
        return session.move_to(intent=UNKNOWN, state=UNKNOWN, cause="HANDED_BACK")

    return store_external_turn(conversation_id, workspace_id, None, text, end, key)
