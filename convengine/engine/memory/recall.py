"""Memory of earlier turns: read at the start of a turn, written at its end."""

from collections.abc import Mapping

from convengine.engine.memory.settings import ENABLED
from convengine.engine.memory.stages import MEMORY_STORE_ERROR
from convengine.engine.text.compare import blank
from convengine.engine.turn.owned_params import MemoryParams
from convengine.engine.turn.ports import MemoryAnswer
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from convengine.json_value import Json

#: The branch of the context for memory.
BRANCH = "memory"


def recall_memory(session: Session, turn: Turn) -> Session:
    """Set `memory_recall` if there is any memory.

    The first registered store that returns something, else the conversation's own last summary, else the summary of the
    thread's earlier session.
    """
    if not turn.config(session, ENABLED):
        return session
    answer = turn.ports.memory.read(session)
    audit_store_faults(session, turn, "read", answer)
    for text in (answer.text, get_own_summary(session), turn.ports.conversations.load().memory_recall):
        if isinstance(text, str) and not blank(text):
            return set_recall(session, text)
    return session


def set_recall(session: Session, text: str) -> Session:
    """Set a text as `memory_recall`. A text from elsewhere is in the context from now on."""
    session = session.with_values(MemoryParams(memory_recall=text))
    if text == get_own_summary(session):
        return session
    return session.with_context({BRANCH: {**_get_branch(session), "recalled_summary": text}})


def build_branch(session: Session, summary: str) -> dict[str, Json]:
    """`context.memory` after the turn. Recalled text from elsewhere stays for the whole session."""
    recalled = session.memory.memory_recall
    elsewhere = recalled if recalled != get_own_summary(session) else _get_branch(session).get("recalled_summary")
    return {"session_summary": summary, **({"recalled_summary": elsewhere} if elsewhere else {})}


def get_own_summary(session: Session) -> Json:
    """The summary of the conversation's last turn. Returns None if there is none."""
    return _get_branch(session).get("session_summary")


def audit_store_faults(session: Session, turn: Turn, operation: str, answer: MemoryAnswer) -> None:
    """Write one MEMORY_STORE_ERROR for each store that failed. A store never fails a turn."""
    for fault in answer.faults:
        turn.audit(
            session,
            MEMORY_STORE_ERROR,
            store=fault.store,
            operation=operation,
            errorType=fault.error_type,
            errorMessage=fault.error_message,
        )


def _get_branch(session: Session) -> Mapping[str, Json]:
    branch = session.context.get(BRANCH)
    return branch if isinstance(branch, Mapping) else {}
