"""PersistConversationStep: make the result that the turn's commit stores (pipeline-2 11)."""

from collections.abc import Mapping
from typing import Any

from convengine.engine.errors import PipelineNoResponsePayload
from convengine.engine.memory.context_summary import add_question
from convengine.engine.pipeline.step import Continue, Step
from convengine.engine.steps.conversation.settings import MAX_CONTEXT_BYTES
from convengine.engine.steps.conversation.stages import CONTEXT_TRIMMED
from convengine.engine.text.compare import blank
from convengine.engine.threads.ending import apply_end_of_turn
from convengine.engine.turn.codec import dumps
from convengine.engine.turn.enums import Lifecycle
from convengine.engine.turn.payload import to_document
from convengine.engine.turn.scope import UNKNOWN
from convengine.engine.turn.session import FinalResult, Session
from convengine.engine.turn.stages import ENGINE_RETURN
from convengine.engine.turn.stored_session import build_closing_context
from convengine.engine.turn.turn import Turn


class PersistConversationStep(Step):
    """Prepare the session for storage. The turn shell commits after the pipeline (law 1)."""

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
            context=build_closing_context(session),
            last_assistant=to_document(payload),
        )
        session = _add_question_to_summary(apply_end_of_turn(_trim_context(session, turn), turn))
        result = FinalResult(str(session.intent), str(session.state), payload, session.context)
        session = session.evolve(final_result=result)
        turn.audit(
            session,
            ENGINE_RETURN,
            intent=session.intent,
            state=session.state,
            final_result=session.last_assistant,
        )
        return Continue(session)


def _add_question_to_summary(session: Session) -> Session:
    """Add the answer's question to the summary, because it is known only now.

    The offer to resume asks nothing of the task, and updates the summary itself.
    """
    detail = session.lifecycle_detail if session.lifecycle == Lifecycle.AWAITING_USER else {}
    if not detail.get("question") or "resume" in detail:
        return session
    return session.evolve(context_summary=add_question(session.context_summary, str(detail["question"])))


def _trim_context(session: Session, turn: Turn) -> Session:
    """Reduce a context beyond MAX_CONTEXT_BYTES: first container data, then observations."""
    limit = turn.config(session, MAX_CONTEXT_BYTES)
    size = len(dumps(session.context).encode())
    dropped: list[str] = []
    for name, drop in (("container_data", _drop_container_data), ("mcp.observations", _drop_observations)):
        if size <= limit:
            break
        session = session.evolve(context=drop(session.context))
        dropped.append(name)
        size = len(dumps(session.context).encode())
    if dropped:
        turn.audit(session, CONTEXT_TRIMMED, dropped=dropped, bytes=size, maxBytes=limit)
    return session


def _drop_container_data(context: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in context.items() if key != "container_data"}


def _drop_observations(context: Mapping[str, Any]) -> dict[str, Any]:
    mcp = context.get("mcp")
    if not isinstance(mcp, Mapping):
        return dict(context)
    return {**context, "mcp": {key: value for key, value in mcp.items() if key != "observations"}}
