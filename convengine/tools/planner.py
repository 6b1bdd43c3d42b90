"""Asking the planner for the next step (pipeline-2 4.3)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from convengine.codec import dumps
from convengine.domain import rows
from convengine.domain.catalogue.tools import (
    MCP_PLANNER_MAX_OBS_CHARS,
    MCP_PLANNER_MAX_OBSERVATIONS_COUNT,
    MCP_TOOL_MAX_LOOPS,
    ON_PLANNER_ERROR,
    PLANNER_SYSTEM_PROMPT,
    PLANNER_USER_PROMPT,
)
from convengine.domain.enums import DecisionKind
from convengine.domain.session import Session
from convengine.domain.stages import Stage
from convengine.domain.text import code
from convengine.domain.turn import Turn
from convengine.errors import ConvEngineError, PromptRenderFailed, UnresolvedPromptVariable
from convengine.llm.ask import Question, Stages, ask
from convengine.prompts.fill import Filled, filled
from convengine.tools.group_schemas import shown_schema
from convengine.tools.observations import Observation, compacted
from convengine.tools.plan import SCHEMA, Plan, read_plan, unreadable

Json = Any
_STAGES = Stages(Stage.MCP_PLAN_LLM_INPUT, Stage.MCP_PLAN_LLM_OUTPUT, Stage.MCP_PLAN_LLM_ERROR)
#: What a model writes that is no plan; everything else that goes wrong is an outage.
_UNREADABLE = frozenset({"LLM_INVALID_RESPONSE", "LLM_SCHEMA_VIOLATION"})
_NAMED_TOOL = re.compile(r"`([A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)+)`")


class PlannerFailed(Exception):
    """There is no plan: the model failed, or its prompt could not be made."""


@dataclass(frozen=True)
class Prompts:
    """The planner's prompts, and where they come from: a row, settings, or the built-in texts."""

    system: str
    user: str
    row: rows.Planner | None = None


def prompts_of(session: Session, turn: Turn) -> Prompts:
    """The most specific planner row, of these the highest id; else the settings."""
    in_scope = turn.snapshot.in_scope(rows.Planner, session.intent, session.state, order=_newest)
    if in_scope:
        return Prompts(in_scope[0].system_prompt, in_scope[0].user_prompt, in_scope[0])
    return Prompts(turn.config(session, PLANNER_SYSTEM_PROMPT), turn.config(session, PLANNER_USER_PROMPT))


def _newest(row: rows.Planner) -> int:
    return -row.planner_id


def offered(prompts: Prompts, tools: Sequence[rows.Tool], turn: Turn) -> list[Json]:
    """The tools as the planner is told of them: those that the prompts name in back-ticks, or all."""
    named = {code(name) for text in (prompts.system, prompts.user) for name in _NAMED_TOOL.findall(text)}
    narrowed = [tool for tool in tools if code(tool.tool_code) in named] or tools
    return [
        {
            "tool_code": tool.tool_code,
            "tool_group": tool.tool_group,
            "description": tool.description,
            "input_schema": shown_schema(turn.snapshot, tool),
        }
        for tool in narrowed
    ]


def next_step(session: Session, turn: Turn, tools: Sequence[rows.Tool], seen: Sequence[Observation]) -> Plan:
    """The planner's next step. Raises PlannerFailed, or with ON_PLANNER_ERROR = FAIL what fails the turn."""
    prompts = prompts_of(session, turn)
    if prompts.row:
        turn.decided_by(prompts.row, DecisionKind.TEMPLATE)
    count = turn.config(session, MCP_PLANNER_MAX_OBSERVATIONS_COUNT) or turn.config(session, MCP_TOOL_MAX_LOOPS)
    shown = compacted(seen, count, turn.config(session, MCP_PLANNER_MAX_OBS_CHARS))
    try:
        texts = filled(
            session,
            turn,
            system=prompts.system,
            user=prompts.user,
            selected=_source(prompts),
            mcp_tools=offered(prompts, tools, turn),
            mcp_observations=shown,
        )
    except (PromptRenderFailed, UnresolvedPromptVariable) as error:
        told = {"errorCode": error.code, "message": error.message, "exception": type(error).__name__}
        turn.audit(session, Stage.MCP_PLAN_LLM_ERROR, **told, missing=error.meta.get("missingPromptVars", []))
        raise _failed(session, turn, error) from error
    reply = ask(session, turn, _question(prompts, texts, seen, shown))
    if reply.error is None:
        return read_plan(reply.value)
    if reply.error.code in _UNREADABLE:
        return unreadable()
    raise _failed(session, turn, reply.error.error())


def _failed(session: Session, turn: Turn, error: ConvEngineError) -> Exception:
    if turn.config(session, ON_PLANNER_ERROR) == "FAIL":
        return error
    return PlannerFailed(f"{error.code}: {error.message}")


def _source(prompts: Prompts) -> Json:
    return {"planner_id": prompts.row.planner_id} if prompts.row else {"ce_config": "McpPlanner"}


def _question(prompts: Prompts, texts: Filled, seen: Sequence[Observation], shown: Sequence[Json]) -> Question:
    told = {
        "templateFromCeConfig (McpPlanner)": f"{prompts.system}\n\n{prompts.user}",
        **_source(prompts),
        "system_prompt": texts.system,
        "user_prompt": texts.user,
        "schema": SCHEMA,
        "mcp_observations_compacted": list(shown),
        "mcp_observations_raw_chars": len(dumps(list(seen))),
        "mcp_observations_final_chars": len(dumps(list(shown))),
    }
    return Question(
        "MCP_PLAN", texts.system, texts.user, json_schema=SCHEMA, stages=_STAGES, told=told, answered="json"
    )
