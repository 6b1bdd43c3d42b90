"""Whether the planner may run in this turn. The first reason against it wins (R35, R45)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from convengine.engine.steps.tools.scope import list_servers_in_scope
from convengine.engine.steps.tools.stages import (
    MCP_NO_TOOLS_AVAILABLE,
    MCP_SKIPPED_PENDING_CLARIFICATION,
    MCP_SKIPPED_SCHEMA_INCOMPLETE,
)
from convengine.engine.text.compare import code, truthy
from convengine.engine.turn import rows
from convengine.engine.turn.enums import DialogueAct
from convengine.engine.turn.session import Session
from convengine.engine.turn.stage import Stage
from convengine.engine.turn.turn import Turn

Json = Any
_REFUSING_ACTS = frozenset({DialogueAct.NEGATE, DialogueAct.RESET, DialogueAct.EDIT})


@dataclass(frozen=True)
class Skip:
    """Why the planner does not run. A null `status` leaves `mcp_status` unchanged."""

    status: str | None
    reason: str
    outcome: str = "SKIPPED"
    #: The gate's own stage besides MCP_SKIPPED, and its payload besides intent and state.
    stage: Stage | None = None
    about: Mapping[str, Json] = field(default_factory=dict)


def find_shut_gate(session: Session, turn: Turn) -> Skip | None:
    """The first reason against the planner, or null."""
    return next((skip for check in _GATES if (skip := check(session, turn))), None)


def _check_guardrail(session: Session, turn: Turn) -> Skip | None:
    params = session.input_params
    if truthy(params.get("skip_tool_execution")) or truthy(params.get("guardrail_blocked")):
        return Skip("SKIPPED_BY_GUARDRAIL", "GUARDRAIL")
    return None


def _check_schema(session: Session, turn: Turn) -> Skip | None:
    if session.resolved_schema is None or session.schema_complete:
        return None
    about = {"missing_fields": list(session.missing_required_fields), "schema_complete": False}
    stage = MCP_SKIPPED_SCHEMA_INCOMPLETE
    return Skip("SKIPPED_SCHEMA_INCOMPLETE", "SCHEMA_INCOMPLETE", stage=stage, about=about)


def _check_dialogue_act(session: Session, turn: Turn) -> Skip | None:
    params = session.input_params
    act = DialogueAct.read(params.get("dialogue_act"))
    confirmed = code(params.get("routing_decision")) == "PROCEED_CONFIRMED"
    if act in _REFUSING_ACTS or (act == DialogueAct.AFFIRM and not confirmed):
        return Skip("SKIPPED_DIALOGUE_ACT", "DIALOGUE_ACT")
    return Skip("SKIPPED_GREETING", "GREETING") if act == DialogueAct.GREETING else None


def _check_clarification(session: Session, turn: Turn) -> Skip | None:
    if session.clarification is None:
        return None
    return Skip(None, "PENDING_CLARIFICATION", stage=MCP_SKIPPED_PENDING_CLARIFICATION)


#: Neither rows nor servers have a tool in this scope.
NO_TOOLS = Skip("NO_TOOLS_FOR_SCOPE", "NO_TOOLS", "NO_TOOLS", stage=MCP_NO_TOOLS_AVAILABLE)


def _check_tools(session: Session, turn: Turn) -> Skip | None:
    """Servers are asked for their tools only if no other reason applies."""
    if turn.snapshot.in_scope(rows.Tool, session.intent, session.state) or list_servers_in_scope(session, turn):
        return None
    return NO_TOOLS


def _check_model(session: Session, turn: Turn) -> Skip | None:
    return None if turn.ports.model.configured else Skip("NO_MODEL", "LLM_NOT_CONFIGURED")


def _check_override(session: Session, turn: Turn) -> Skip | None:
    if session.reset_only:
        return Skip(None, "RESET_ONLY")
    return Skip(None, "REPLY_OVERRIDE") if session.reply_override else None


_GATES: tuple[Callable[[Session, Turn], Skip | None], ...] = (
    _check_guardrail,
    _check_schema,
    _check_dialogue_act,
    _check_clarification,
    _check_tools,
    _check_model,
    _check_override,
)
