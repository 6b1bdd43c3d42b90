"""Values for core tests: sensible defaults, one line each."""

from collections.abc import Mapping
from itertools import count
from typing import Any
from uuid import UUID

from convengine.engine.pipeline.step import Step
from convengine.engine.steps.tools.scripted import ScriptedServers, ScriptedTools
from convengine.engine.turn import rows
from convengine.engine.turn.conversation import Conversation, Loaded
from convengine.engine.turn.ports import (
    LearnedPort,
    ModelPort,
    Pace,
    Ports,
    ServerPort,
    ToolPort,
    UnrecordedDecisions,
)
from convengine.engine.turn.recording import Recording, TapedPace
from convengine.engine.turn.session import FIELDS, Session
from convengine.engine.turn.snapshot import Snapshot, Table
from convengine.engine.turn.trail import Trail
from convengine.engine.turn.turn import Turn, TurnRequest
from convengine.server.extensions.ports import RegisteredTools, TimedTools
from convengine.server.extensions.registry import Registry
from convengine.server.model_clients.offline import NoModel
from tests.fakes.clock import FrozenClock
from tests.fakes.ports import (
    BookOfExecutions,
    FixedContainers,
    FixedMemory,
    FixedTransformers,
    RecordingTasks,
    StoredConversation,
)

CONVERSATION = "9bf7540a-b129-4685-a120-730e8a0cb94b"
TURN = str(UUID(int=7))
_ids = count(1)


def make_snapshot(
    *all_rows: rows.Row, version: int = 1, defaults: Mapping[tuple[str, str], str] | None = None
) -> Snapshot:
    """A snapshot of these rows."""
    tables: dict[str, list[rows.Row]] = {}
    for row in all_rows:
        tables.setdefault(row.table, []).append(row)
    return Snapshot(version, {name: Table(name, found) for name, found in tables.items()}, defaults)


def make_intent(intent_code: str, **values: Any) -> rows.Intent:
    return rows.Intent(intent_code=intent_code, **{"description": intent_code.lower(), **values})


def make_classifier(intent_code: str, pattern: str, **values: Any) -> rows.Classifier:
    defaults = {"classifier_id": next(_ids), "rule_type": "CONTAINS", "state_code": "IDLE"}
    return rows.Classifier(intent_code=intent_code, pattern=pattern, **{**defaults, **values})


def make_rule(**values: Any) -> rows.Rule:
    defaults = {
        "rule_id": next(_ids),
        "intent_code": "ANY",
        "state_code": "ANY",
        "rule_type": "EXACT",
        "match_pattern": "ANY",
        "action": "SET_STATE",
        "action_value": "DONE",
    }
    return rows.Rule(**{**defaults, **values})


def make_policy(rule_type: str, pattern: str | None, **values: Any) -> rows.Policy:
    defaults = {"policy_id": next(_ids), "response_text": "I cannot help with that."}
    return rows.Policy(rule_type=rule_type, pattern=pattern, **{**defaults, **values})


def make_response(exact_text: str | None = "Hello.", **values: Any) -> rows.Response:
    defaults = {"response_id": next(_ids), "intent_code": "ANY", "state_code": "ANY"}
    return rows.Response(exact_text=exact_text, **{**defaults, **values})


def make_schema(intent_code: str, properties: Mapping[str, Any], **values: Any) -> rows.OutputSchema:
    required = values.pop("required", list(properties))
    schema = {"type": "object", "properties": dict(properties), "required": required}
    defaults = {"schema_id": next(_ids), "state_code": "ANY", "json_schema": schema}
    return rows.OutputSchema(intent_code=intent_code, **{**defaults, **values})


def make_action(action_key: str, **values: Any) -> rows.PendingAction:
    defaults = {
        "pending_action_id": next(_ids),
        "intent_code": "ANY",
        "state_code": "ANY",
        "bean_name": "billing",
        "method_names": "refund",
    }
    return rows.PendingAction(action_key=action_key, **{**defaults, **values})


def make_edge(from_state: str, to_state: str, **values: Any) -> rows.StateEdge:
    return rows.StateEdge(from_state=from_state, to_state=to_state, **{"edge_id": next(_ids), **values})


def make_tool(tool_code: str, **values: Any) -> rows.Tool:
    defaults = {"tool_id": next(_ids), "tool_group": "HTTP_API", "intent_code": "ANY", "state_code": "ANY"}
    return rows.Tool(tool_code=tool_code, **{**defaults, **values})


def make_server(name: str, **values: Any) -> rows.McpServer:
    """An MCP server that is reached over HTTP."""
    defaults = {"server_id": next(_ids), "transport": "HTTP", "url": f"http://{name}.example/mcp"}
    return rows.McpServer(name=name, **{**defaults, **values})


def make_direct_tool(tool_code: str | None, **values: Any) -> rows.DirectTool:
    """A row that calls a tool without a planner."""
    defaults = {"ce_tool_id": next(_ids), "tool_group": "HTTP_API", "intent_code": "ANY", "state_code": "ANY"}
    return rows.DirectTool(tool_code=tool_code, **{**defaults, **values})


def make_verbose(message: str | None = "Working.", **values: Any) -> rows.Verbose:
    """A line for the entry of RulesStep, wherever the session stands."""
    defaults = {
        "verbose_id": next(_ids),
        "intent_code": "ANY",
        "state_code": "ANY",
        "step_value": "RulesStep",
        "determinant": "STEP_ENTER",
    }
    return rows.Verbose(message=message, **{**defaults, **values})


def make_config(name: str, value: str, **values: Any) -> rows.Config:
    """A setting by its `TYPE/KEY`."""
    config_type, _, config_key = name.partition("/")
    return rows.Config(
        config_id=next(_ids), config_type=config_type, config_key=config_key, config_value=value, **values
    )


def make_session(*, input_params: Mapping[str, Any] | None = None, **values: Any) -> Session:
    return Session(**{"conversation_id": CONVERSATION, **values}).with_params(input_params or {})


def run_step(step: Step, session: Session, turn: Turn) -> Session:
    """The session after a step, as the runner has it: a step that has nothing to do is not executed."""
    return session if step.find_idle_reason(session, turn) else step.execute(session, turn).session


def check_writes(step: type[Step], before: Session, after: Session) -> None:
    """Assert that the step may change what differs between the sessions."""
    used = (right.fields for right in step.rights if right.is_used(before, after))
    assert {name for name in FIELDS if getattr(before, name) != getattr(after, name)} <= step.writes.union(*used)


def make_turn(
    snapshot: Snapshot | None = None,
    *,
    text: str | None = None,
    conversation: Mapping[str, Any] | None = None,
    loaded: Mapping[str, Any] | None = None,
    tasks: RecordingTasks | None = None,
    executions: BookOfExecutions | None = None,
    containers: FixedContainers | None = None,
    model: ModelPort | None = None,
    learned: LearnedPort | None = None,
    tools: ToolPort | None = None,
    servers: ServerPort | None = None,
    pace: Pace | None = None,
    memory: FixedMemory | None = None,
    transformers: FixedTransformers | None = None,
    clock: FrozenClock | None = None,
    turn_no: int = 1,
    **request: Any,
) -> Turn:
    """A turn whose ports are all in memory. `conversation` and `loaded` say what was stored before."""
    clock = clock or FrozenClock()
    row = Conversation(CONVERSATION, **{"created_at": clock.at, **(conversation or {})})
    ports = Ports(
        clock=clock,
        conversations=StoredConversation(Loaded(row, **(loaded or {}))),
        tasks=tasks or RecordingTasks(),
        executions=executions or BookOfExecutions(),
        containers=containers or FixedContainers(),
        model=model or NoModel(),
        tools=TimedTools(tools or RegisteredTools(Registry())),
        servers=servers or ScriptedServers(ScriptedTools([])),
        pace=pace or TapedPace(clock, Recording(), lambda seconds: None),
        memory=memory or FixedMemory(),
        transformers=transformers or FixedTransformers(),
        learned=learned or UnrecordedDecisions(),
    )
    return Turn(
        turn_id=TURN,
        turn_no=turn_no,
        request=TurnRequest(CONVERSATION, text, **request),
        snapshot=snapshot or make_snapshot(),
        ports=ports,
        trail=Trail(clock.elapsed_ms),
    )


def stages(turn: Turn) -> list[str]:
    """The stages that a turn has left so far."""
    return [event.stage for event in turn.trail.events]


def payload(turn: Turn, stage: str, nth: int = 0) -> Mapping[str, Any]:
    """The payload of the nth event of a stage; a bare name also finds `NAME (source)`."""
    found = [e.payload for e in turn.trail.events if e.stage == stage or e.stage.startswith(f"{stage} (")]
    return found[nth]
