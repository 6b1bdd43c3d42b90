"""McpToolStep, the planner's step: when the planner may run, what it clears first, and why it is skipped.

Stored turns name the module: recorded events would differ from replayed ones if it had another name.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from convengine.engine.pipeline.step import Continue, Step
from convengine.engine.rules.apply import RUN_RULES, run_phase
from convengine.engine.rules.choice import choose_response
from convengine.engine.steps.tools.call import BY_GUARDRAIL, get_mcp_branch
from convengine.engine.steps.tools.planner import build_lifecycle, run_planner
from convengine.engine.steps.tools.scope import is_confirmed, list_servers_in_scope, list_tools_in_scope
from convengine.engine.steps.tools.stages import (
    MCP_CONTEXT_CLEARED,
    MCP_NO_TOOLS_AVAILABLE,
    MCP_SKIPPED,
    MCP_SKIPPED_PENDING_CLARIFICATION,
    MCP_SKIPPED_SCHEMA_INCOMPLETE,
)
from convengine.engine.text.compare import code, truthy
from convengine.engine.turn import rows
from convengine.engine.turn.enums import DialogueAct, ResponseType, RoutingDecision, RulePhase
from convengine.engine.turn.owned_params import ToolParams
from convengine.engine.turn.scope import Scoped, is_resolved, rank_specificity
from convengine.engine.turn.session import Session
from convengine.engine.turn.stage import Stage
from convengine.engine.turn.turn import Turn
from convengine.json_value import Json

#: Names of what the planner leaves, or of what holds it.
_OF_PLANNER = re.compile(r"\bmcp|observations|agent\.|\binputParams\b(?!\.)|\bcontext\b(?!\.)", re.IGNORECASE)
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


class McpToolStep(Step):
    """Clear the last run's data, run the rules of PRE_AGENT_MCP, and run the planner if allowed."""

    after = ("ToolOrchestrationStep",)
    rank = 2100
    always_runs = True
    requires_persisted = True
    writes = frozenset({"tools", "context"})
    rights = (RUN_RULES,)

    def execute(self, session: Session, turn: Turn) -> Continue:
        """Run the planner, or record why it does not run.

        Rules may allow or prevent it by moving the state, so they run first; with an override none run before it.
        """
        if session.only_digresses:
            turn.audit(session, MCP_SKIPPED, status=None, reason="DIGRESSION", **session.where)
            return Continue(session)
        session = clear_planner_state(session, turn)
        if session.reply_override is None:
            session = run_phase(RulePhase.PRE_AGENT_MCP, "McpToolStep PreMcp", session, turn)
        if skip := find_shut_gate(session, turn):
            return Continue(skip_planner(session, turn, skip))
        tools = list_tools_in_scope(session, turn)
        if not tools:
            return Continue(skip_planner(session, turn, NO_TOOLS))
        session = run_planner(session, turn, tools)
        return Continue(run_phase(RulePhase.POST_AGENT_MCP, self.name, session, turn))


def clear_planner_state(session: Session, turn: Turn) -> Session:
    """Remove what earlier turns left of tools, except a digest of the last run.

    A direct call of this turn stays for rules, and so does a result that `run_once` reuses.
    """
    branch = get_mcp_branch(session)
    kept_keys = {"toolExecution"} if session.tools.tool_status not in (None, BY_GUARDRAIL) else set()
    dropped = {key: value for key, value in branch.items() if key not in kept_keys}
    stale = [key for key in vars(session.tools) if key.startswith("mcp_")]
    if not dropped and not stale:
        return session
    lifecycle = dropped.get("lifecycle")
    remaining = {key: branch[key] for key in kept_keys & branch.keys()}
    if isinstance(lifecycle, dict):
        remaining["previous"] = {
            key: lifecycle.get(key) for key in ("status", "outcome", "error", "lastToolCode", "turnId")
        }
    session = session.without_params(*stale).without_context("mcp")
    session = session.with_context({"mcp": remaining}) if remaining else session
    turn.audit(session, MCP_CONTEXT_CLEARED)
    return session


def skip_planner(session: Session, turn: Turn, skip: Skip) -> Session:
    """Record that the planner did not run, and why. A turn that only resets leaves the context empty."""
    if skip.status is not None:
        session = session.with_values(ToolParams(mcp_status=skip.status))
    if not session.reset_only:
        state = build_lifecycle(turn, skip.status, skip.outcome)
        session = session.with_context({"mcp": {**get_mcp_branch(session), "lifecycle": state}})
    if skip.stage:
        turn.audit(session, skip.stage, **session.where, **skip.about)
    turn.audit(session, MCP_SKIPPED, status=skip.status, reason=skip.reason, **session.where)
    return session


def find_shut_gate(session: Session, turn: Turn) -> Skip | None:
    """The first reason against the planner. Returns None if there is none."""
    return next((skip for check in _GATES if (skip := check(session, turn))), None)


def _check_guardrail(session: Session, turn: Turn) -> Skip | None:
    if truthy(session.action.skip_tool_execution) or truthy(session.action.guardrail_blocked):
        return Skip("SKIPPED_BY_GUARDRAIL", "GUARDRAIL")
    return None


def _check_schema(session: Session, turn: Turn) -> Skip | None:
    if session.resolved_schema is None or session.schema_complete:
        return None
    about = {"missing_fields": list(session.missing_required_fields), "schema_complete": False}
    stage = MCP_SKIPPED_SCHEMA_INCOMPLETE
    return Skip("SKIPPED_SCHEMA_INCOMPLETE", "SCHEMA_INCOMPLETE", stage=stage, about=about)


def _check_dialogue_act(session: Session, turn: Turn) -> Skip | None:
    act = DialogueAct.read(session.dialogue.dialogue_act)
    confirmed = code(session.routing.routing_decision) == RoutingDecision.PROCEED_CONFIRMED
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
    """Check that rows or servers may have a tool here. Servers are asked for theirs only if no gate is shut."""
    if turn.snapshot.in_scope(rows.Tool, session.intent, session.state) or list_servers_in_scope(session, turn):
        return None
    return NO_TOOLS


def _check_answer(session: Session, turn: Turn) -> Skip | None:
    """Check that something needs the planner: where tools of every intent and state are all there is, a turn that a
    fixed answer ends needs none, unless the answer or a rule reads what the planner leaves, or the user confirmed.
    """
    intent, state = session.intent, session.state
    tools: list[Scoped] = [*turn.snapshot.in_scope(rows.Tool, intent, state), *list_servers_in_scope(session, turn)]
    if not is_resolved(intent) or any(map(rank_specificity, tools)) or is_confirmed(session):
        return None
    answer = choose_response(turn.snapshot, intent, state).winner
    if answer is None or code(answer.response_type) != ResponseType.EXACT or _reads_planner(answer.exact_text):
        return None
    rules = turn.snapshot.in_scope(rows.Rule, intent, state)
    needed = any(code(rule.phase) == RulePhase.POST_AGENT_MCP or _reads_planner(rule.match_pattern) for rule in rules)
    return None if needed else Skip("SKIPPED_ANSWERED", "ANSWERED")


def _reads_planner(text: str | None) -> bool:
    return bool(_OF_PLANNER.search(text or ""))


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
    _check_answer,
)
