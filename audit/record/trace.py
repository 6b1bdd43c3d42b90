"""Group the events of turns by step, as a document and as a graph.

Nothing of it is stored: both can always be computed again.
"""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from audit.record import queries
from audit.record.events import Event, expand_events
from convengine.engine.pipeline.stages import PIPELINE_TIMING, STEP_ENTER, STEP_ERROR, STEP_EXIT
from convengine.engine.rules.stages import RULE_APPLIED
from convengine.json_value import Json
from convengine.server.sessions.models import CeConversationHistory

_MODEL_CALLS = "_LLM_INPUT"
_TOOL_CALLS = frozenset({"MCP_TOOL_CALL", "TOOL_ORCHESTRATION_REQUEST"})
_STATUS: Mapping[str, str] = {STEP_EXIT: "OK", STEP_ERROR: "ERROR"}


def build_trace(
    conversation_id: str, events: Iterable[Event], records: Mapping[int, CeConversationHistory]
) -> dict[str, Json]:
    """The trace of some turns: by turn, and flat for old clients."""
    by_turn = group_events(events)
    turns = [_build_turn(turn_no, turn_events, records.get(turn_no)) for turn_no, turn_events in by_turn.items()]
    return {
        "conversationId": conversation_id,
        "turns": turns,
        "steps": [step for turn in turns for step in turn["steps"]],
        "stages": [describe_stage(event) for turn_events in by_turn.values() for event in turn_events],
    }


def group_events(events: Iterable[Event]) -> dict[int, list[Event]]:
    """The events of each turn, in their order, by turn number; those outside of turns with the number 0."""
    by_turn: dict[int, list[Event]] = {}
    for event in events:
        by_turn.setdefault(event.row.turn_no or 0, []).append(event)
    return by_turn


def build_steps(events: Iterable[Event]) -> list[dict[str, Json]]:
    """The steps of one turn. A step without an end stays RUNNING: a dead process, or a filtered end."""
    steps: list[dict[str, Json]] = []
    running: list[dict[str, Json]] = []
    for event in events:
        payload, at = event.payload, event.row.created_at.isoformat()
        if event.name == STEP_ENTER:
            steps.append(_build_step(str(payload.get("step")), payload.get("stepClass"), startedAt=at))
            running.append(steps[-1])
        elif event.name in (STEP_EXIT, STEP_ERROR) and running:
            name = payload.get("step")
            step = next((known for known in reversed(running) if known["step"] == name), running[-1])
            running.remove(step)
            status, took, error = _STATUS[event.name], payload.get("durationMs"), payload.get("errorMessage")
            step.update(status=status, endedAt=at, durationMs=took, error=error)
        elif running:
            running[-1]["stages"].append(describe_stage(event))
    return steps


def _build_step(step: str, step_class: str | None, **known: Json) -> dict[str, Json]:
    """A step that runs, with what is `known` of it in place of usual values; without `step_class`, no source file."""
    return {
        "step": step,
        "stepClass": step_class,
        "sourceFile": step_class.rpartition(".")[0].replace(".", "/") + ".py" if step_class else None,
        "status": "RUNNING",
        "startedAt": None,
        "endedAt": None,
        "durationMs": None,
        "error": None,
        "stages": [],
        **known,
    }


def _build_turn(turn_no: int, events: list[Event], record: CeConversationHistory | None) -> dict[str, Json]:
    """The trace of one turn with events. Without `record`, as while it runs, what only the record has is null."""
    first, last = events[0], events[-1]
    start = next((event for event in events if event.name == "INTENT_RESOLVE_START"), first)
    return {
        "turnNo": turn_no,
        "turnId": str(first.row.turn_id),
        "status": record.status if record else None,
        "startedAt": first.row.created_at.isoformat(),
        "durationMs": record.duration_ms if record else None,
        "configVersion": first.row.config_version,
        "userText": record.user_input if record else None,
        "intentFrom": start.state.get("intent"),
        "intentTo": record.intent_code if record else last.state.get("intent"),
        "stateFrom": start.state.get("state"),
        "stateTo": record.state_code if record else last.state.get("state"),
        "llmCalls": sum(event.name.endswith(_MODEL_CALLS) for event in events),
        "toolCalls": sum(event.name in _TOOL_CALLS for event in events),
        "steps": build_steps(events) or _derive_steps(events),
    }


def _derive_steps(events: list[Event]) -> list[dict[str, Json]]:
    """Steps from the timing record, when STEP_ENTER and STEP_EXIT were filtered out; none without that record."""
    timing = next((event for event in events if event.name == PIPELINE_TIMING), None)
    return [
        _build_step(
            item["step"],
            None,
            status="OK" if item["success"] else "ERROR",
            durationMs=int(item["durationMs"]),
            stages=[describe_stage(event) for event in events if event.step == item["step"]],
            derived=True,
        )
        for item in (timing.payload.get("stepList", ()) if timing else ())
    ]


def describe_stage(event: Event) -> dict[str, Json]:
    return {
        "auditId": event.row.audit_id,
        "stage": event.row.stage,
        "turnNo": event.row.turn_no,
        "seq": event.row.seq,
        "createdAt": event.row.created_at.isoformat(),
        "payload": event.payload,
    }


def read_turn_trace(conversation_id: uuid.UUID, turn_no: int) -> dict[str, Any] | None:
    """The turn in the form of a conversation's trace. Returns None when neither its events nor its record are stored.

    A turn without events has an empty trace.
    """
    rows, records = queries.read_turns(conversation_id, [turn_no]), queries.read_records(conversation_id, [turn_no])
    if not rows and not records:
        return None
    return {**build_trace(str(conversation_id), expand_events(rows), records), "previous": None}


def build_graphs(conversation_id: uuid.UUID, turn_nos: Sequence[int]) -> dict[int, dict[str, Json]]:
    """The graph of each turn that has events: steps with their timings, and the edges between them."""
    trace = build_trace(str(conversation_id), expand_events(queries.read_turns(conversation_id, turn_nos)), {})
    return {turn["turnNo"]: build_graph(turn["steps"]) for turn in trace["turns"]}


def build_graph(steps: Sequence[Mapping[str, Json]]) -> dict[str, Json]:
    """Nodes are steps; an edge is the order of two steps, or a rule that acted in the first of them."""
    nodes = [
        {
            "id": step["step"],
            "outcome": step["status"],
            "started_at": step["startedAt"],
            "duration_ms": step["durationMs"],
            "error": step["error"],
        }
        for step in steps
    ]
    edges = []
    for step, next_step in pairwise(steps):
        edges.append({"from": step["step"], "to": next_step["step"], "kind": "order"})
        for stage in step["stages"]:
            if stage["stage"].startswith(RULE_APPLIED):
                payload = stage["payload"]
                rule = {"rule_id": payload.get("ruleId"), "action": payload.get("action")}
                rule |= {"value": payload.get("actionValue")}
                edges.append({"from": step["step"], "to": next_step["step"], "kind": "rule", **rule})
    return {"nodes": nodes, "edges": edges}
