"""May the planner be asked in this turn? The gates of pipeline-2 4.1, first hit wins (R35, R45)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from convengine.domain import rows
from convengine.domain.enums import DialogueAct
from convengine.domain.session import Session
from convengine.domain.stages import Stage
from convengine.domain.text import code, truthy
from convengine.domain.turn import Turn
from convengine.tools.servers import servers_in_scope

Json = Any
_REFUSING_ACTS = frozenset({DialogueAct.NEGATE, DialogueAct.RESET, DialogueAct.EDIT})


@dataclass(frozen=True)
class Skip:
    """Why no planner is asked. A null `status` leaves `mcp_status` as it is."""

    status: str | None
    reason: str
    outcome: str = "SKIPPED"
    #: The stage that this gate has for itself, beside MCP_SKIPPED, and what it tells more than intent and state.
    stage: Stage | None = None
    about: Mapping[str, Json] = field(default_factory=dict)


def gate(session: Session, turn: Turn) -> Skip | None:
    """The first gate that is shut; null when the planner may be asked."""
    return next((skip for shut in _GATES if (skip := shut(session, turn))), None)


def _guardrail(session: Session, turn: Turn) -> Skip | None:
    params = session.input_params
    if truthy(params.get("skip_tool_execution")) or truthy(params.get("guardrail_blocked")):
        return Skip("SKIPPED_BY_GUARDRAIL", "GUARDRAIL")
    return None


def _schema(session: Session, turn: Turn) -> Skip | None:
    if session.resolved_schema is None or session.schema_complete:
        return None
    about = {"missing_fields": list(session.missing_required_fields), "schema_complete": False}
    stage = Stage.MCP_SKIPPED_SCHEMA_INCOMPLETE
    return Skip("SKIPPED_SCHEMA_INCOMPLETE", "SCHEMA_INCOMPLETE", stage=stage, about=about)


def _dialogue_act(session: Session, turn: Turn) -> Skip | None:
    params = session.input_params
    act = DialogueAct.read(params.get("dialogue_act"))
    confirmed = code(params.get("routing_decision")) == "PROCEED_CONFIRMED"
    if act in _REFUSING_ACTS or (act == DialogueAct.AFFIRM and not confirmed):
        return Skip("SKIPPED_DIALOGUE_ACT", "DIALOGUE_ACT")
    return Skip("SKIPPED_GREETING", "GREETING") if act == DialogueAct.GREETING else None


def _clarification(session: Session, turn: Turn) -> Skip | None:
    if session.clarification is None:
        return None
    return Skip(None, "PENDING_CLARIFICATION", stage=Stage.MCP_SKIPPED_PENDING_CLARIFICATION)


#: Neither rows nor servers have a tool where the session stands.
NO_TOOLS = Skip("NO_TOOLS_FOR_SCOPE", "NO_TOOLS", "NO_TOOLS", stage=Stage.MCP_NO_TOOLS_AVAILABLE)


def _tools(session: Session, turn: Turn) -> Skip | None:
    """What a server offers is asked for only when every other gate is open."""
    if turn.snapshot.in_scope(rows.Tool, session.intent, session.state) or servers_in_scope(session, turn):
        return None
    return NO_TOOLS


def _model(session: Session, turn: Turn) -> Skip | None:
    return None if turn.ports.model.configured else Skip("NO_MODEL", "LLM_NOT_CONFIGURED")


def _idle(session: Session, turn: Turn) -> Skip | None:
    if session.reset_only:
        return Skip(None, "RESET_ONLY")
    return Skip(None, "REPLY_OVERRIDE") if session.reply_override else None


_GATES: tuple[Callable[[Session, Turn], Skip | None], ...] = (
    _guardrail,
    _schema,
    _dialogue_act,
    _clarification,
    _tools,
    _model,
    _idle,
)
