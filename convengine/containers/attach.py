"""Fetch the data of an intent and state, and put it into the context (pipeline-2 1)."""

from typing import Any

from convengine.containers.request import masked, request_of
from convengine.containers.select import ContainerChoice, choose_containers
from convengine.domain import rows
from convengine.domain.catalogue.data import CONTAINER_ENABLED
from convengine.domain.enums import DecisionKind
from convengine.domain.ports import ContainerAnswer
from convengine.domain.session import Session
from convengine.domain.stages import Stage
from convengine.domain.turn import Turn

#: Session fields that fetching may change.
CONTAINER_FIELDS = frozenset({"context", "container_data", "has_container_data"})
#: The branch of the context that holds what was fetched.
BRANCH = "container_data"


def attach_containers(session: Session, turn: Turn) -> Session:
    """The session with what the rows gave; without rows, or without a result, nothing of an earlier turn stays.

    Each row is on its own: what goes wrong with one is CONTAINER_DATA_FAILED, and the next one runs.
    """
    reason = _idle(session, turn)
    chosen = () if reason else _chosen(session, turn)
    if not chosen:
        turn.audit(
            session,
            Stage.CONTAINER_DATA_SKIPPED,
            reason=reason or "NO_ROWS",
            intent=session.intent,
            state=session.state,
        )
    root: dict[str, Any] = {}
    for row in chosen:
        answer = _fetched(row, session, turn)
        if answer.error_type is None:
            root[row.input_param_name] = answer.value
            session = session.evolve(container_data=answer.value)
    return _attached(session, turn, root)


def _idle(session: Session, turn: Turn) -> str | None:
    """Why nothing is fetched, whatever the rows say (R35)."""
    if session.reset_only:
        return "RESET_ONLY"
    return None if turn.config(session, CONTAINER_ENABLED) else "DISABLED"


def _chosen(session: Session, turn: Turn) -> tuple[rows.ContainerConfig, ...]:
    if not turn.snapshot.rows(rows.ContainerConfig):
        return ()
    choice = choose_containers(turn.snapshot, session.intent, session.state)
    _decide(choice, session, turn)
    return choice.chosen


def _decide(choice: ContainerChoice, session: Session, turn: Turn) -> None:
    turn.decide(
        session,
        DecisionKind.CONTAINER,
        key={"intent": session.intent, "state": session.state},
        winner=choice.chosen[0] if choice.chosen else None,
        candidates=choice.candidates(),
        cut=choice.cut,
    )
    for row in choice.chosen[1:]:
        turn.decided_by(row, DecisionKind.CONTAINER)


def _fetched(row: rows.ContainerConfig, session: Session, turn: Turn) -> ContainerAnswer:
    request = request_of(row, session, turn)
    answer = turn.ports.containers.fetch(request, session)
    address: dict[str, Any] = {
        "containerId": row.container_id,
        "pageId": row.page_id,
        "sectionId": row.section_id,
        "inputParam": row.input_param_name,
    }
    if answer.error_type is not None:
        turn.audit(
            session,
            Stage.CONTAINER_DATA_FAILED,
            **address,
            error=answer.error_message,
            errorType=answer.error_type,
            durationMs=answer.duration_ms,
        )
        return answer
    sent = request.input_params if answer.sent is None else answer.sent
    turn.audit(
        session,
        Stage.CONTAINER_DATA_EXECUTED,
        **address,
        requestInput=masked(row, sent, session, turn),
        response=answer.value,
        durationMs=answer.duration_ms,
    )
    return answer


def _attached(session: Session, turn: Turn, root: dict[str, Any]) -> Session:
    if not root:
        return session.without_context(BRANCH) if BRANCH in session.context else session
    session = session.with_context({BRANCH: root}).evolve(has_container_data=True)
    # The payload is the fetched data itself; its keys are those of the rows.
    turn.trail.add(session, Stage.CONTAINER_DATA_ATTACHED, root)
    return session
