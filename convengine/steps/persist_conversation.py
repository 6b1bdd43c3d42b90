"""PersistConversationStep: make the result that the turn's one commit stores (pipeline-2 11)."""

from collections.abc import Mapping
from typing import Any

from convengine.codec import dumps
from convengine.continuity.ending import settled
from convengine.domain.catalogue.data import MAX_CONTEXT_BYTES
from convengine.domain.enums import Lifecycle
from convengine.domain.opening import closing_context
from convengine.domain.outcome import Continue
from convengine.domain.payload import stored
from convengine.domain.scope import UNKNOWN
from convengine.domain.session import FinalResult, Session
from convengine.domain.stages import Stage
from convengine.domain.text import blank
from convengine.domain.turn import Turn
from convengine.errors import PipelineNoResponsePayload
from convengine.memory.context_summary import with_question
from convengine.pipeline.step import Step


class PersistConversationStep(Step):
    """The session as the row will keep it. The commit itself is the turn shell's, after the pipeline (law 1)."""

    after = ("MemoryStep",)
    rank = 2600
    requires_persisted = True
    writes = frozenset(
        {
            *("intent", "state", "context", "last_assistant", "final_result"),
            *("lifecycle", "lifecycle_detail", "context_summary"),
        }
    )

    def execute(self, session: Session, turn: Turn) -> Continue:
        """Raises PipelineNoResponsePayload when no step produced an answer."""
        payload = session.payload
        if payload is None:
            raise PipelineNoResponsePayload()
        session = session.evolve(
            intent=UNKNOWN if blank(session.intent) else session.intent,
            state=UNKNOWN if blank(session.state) else session.state,
            context=closing_context(session),
            last_assistant=stored(payload),
        )
        session = _told(settled(_trimmed(session, turn), turn))
        result = FinalResult(str(session.intent), str(session.state), payload, session.context)
        session = session.evolve(final_result=result)
        turn.audit(
            session,
            Stage.ENGINE_RETURN,
            intent=session.intent,
            state=session.state,
            final_result=session.last_assistant,
        )
        return Continue(session)


def _told(session: Session) -> Session:
    """The summary tells what the user was asked: only now it is known that the answer asks something.

    The offer to go on asks nothing of the task, and tells the summary itself.
    """
    detail = session.lifecycle_detail if session.lifecycle == Lifecycle.AWAITING_USER else {}
    if not detail.get("question") or "resume" in detail:
        return session
    return session.evolve(context_summary=with_question(session.context_summary, str(detail["question"])))


def _trimmed(session: Session, turn: Turn) -> Session:
    """A context beyond MAX_CONTEXT_BYTES loses what can be fetched again: container data, then observations."""
    limit = turn.config(session, MAX_CONTEXT_BYTES)
    size = len(dumps(session.context).encode())
    dropped: list[str] = []
    for name, without in (("container_data", _without_container_data), ("mcp.observations", _without_observations)):
        if size <= limit:
            break
        session = session.evolve(context=without(session.context))
        dropped.append(name)
        size = len(dumps(session.context).encode())
    if dropped:
        turn.audit(session, Stage.CONTEXT_TRIMMED, dropped=dropped, bytes=size, maxBytes=limit)
    return session


def _without_container_data(context: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in context.items() if key != "container_data"}


def _without_observations(context: Mapping[str, Any]) -> dict[str, Any]:
    mcp = context.get("mcp")
    if not isinstance(mcp, Mapping):
        return dict(context)
    return {**context, "mcp": {key: value for key, value in mcp.items() if key != "observations"}}
