"""What is remembered from before, found at the start of a turn and kept at its end (pipeline-2 10.1, tables 6.5)."""

from collections.abc import Mapping
from typing import Any

from convengine.domain.catalogue.memory import ENABLED
from convengine.domain.ports import MemoryAnswer
from convengine.domain.session import Session
from convengine.domain.stages import Stage
from convengine.domain.text import blank
from convengine.domain.turn import Turn

Json = Any
#: The branch of the context that memory owns.
BRANCH = "memory"


def recalled(session: Session, turn: Turn) -> Session:
    """The session with `memory_recall`, when anything is remembered.

    The first registered store that says something, else the conversation's own last summary, else what an earlier
    session of the thread left.
    """
    if not turn.config(session, ENABLED):
        return session
    answer = turn.ports.memory.read(session)
    tell_faults(session, turn, "read", answer)
    for text in (answer.text, own_summary(session), turn.ports.conversations.load().memory_recall):
        if isinstance(text, str) and not blank(text):
            return reminded(session, text)
    return session


def reminded(session: Session, text: str) -> Session:
    """The session with a text as its `memory_recall`; what comes from elsewhere is in its context from now on."""
    session = session.with_params({"memory_recall": text})
    if text == own_summary(session):
        return session
    return session.with_context({BRANCH: {**_branch(session), "recalled_summary": text}})


def branch_after(session: Session, summary: str) -> dict[str, Json]:
    """`context.memory` as the turn leaves it. What was recalled from elsewhere stays there for the whole session."""
    found = session.input_params.get("memory_recall")
    elsewhere = found if found != own_summary(session) else _branch(session).get("recalled_summary")
    return {"session_summary": summary, **({"recalled_summary": elsewhere} if elsewhere else {})}


def own_summary(session: Session) -> Json:
    """The summary that the conversation's last turn left; null when there is none."""
    return _branch(session).get("session_summary")


def tell_faults(session: Session, turn: Turn, operation: str, answer: MemoryAnswer) -> None:
    """One MEMORY_STORE_ERROR for each store that failed. A store never fails a turn."""
    for fault in answer.faults:
        turn.audit(
            session,
            Stage.MEMORY_STORE_ERROR,
            store=fault.store,
            operation=operation,
            errorType=fault.error_type,
            errorMessage=fault.error_message,
        )


def _branch(session: Session) -> Mapping[str, Json]:
    branch = session.context.get(BRANCH)
    return branch if isinstance(branch, Mapping) else {}
