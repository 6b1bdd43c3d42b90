from convengine.engine.steps.conversation.persist_conversation_bootstrap import PersistConversationBootstrapStep
from convengine.engine.turn.session import Session
from tests.builders import CONVERSATION, make_turn
from tests.fakes.ports import StoredConversation


def get_stored_time(created_at: object) -> int:
    turn = make_turn(conversation={} if created_at else {"created_at": None})
    PersistConversationBootstrapStep().execute(Session(CONVERSATION), turn)
    port = turn.ports.conversations
    assert isinstance(port, StoredConversation)
    return port.stored


def test_PCB_V1_a_row_that_is_there_is_not_written() -> None:
    assert get_stored_time(created_at=True) == 0


def test_PCB_V2_a_row_that_was_never_stored_is_stored() -> None:
    assert get_stored_time(created_at=None) == 1
