"""Group the events of turns by step, as a document and as a graph.

Nothing of it is stored: both can always be computed again.
"""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from audit.record import queries
from audit.record.events import Event, expand_events
from convengine.engine.rules.stages import RULE_APPLIED
from convengine.json_value import Json
from convengine.server.sessions.models import CeConversationHistory

_MODEL_CALLS = "_LLM_INPUT"
_TOOL_CALLS = frozenset({"MCP_TOOL_CALL", "TOOL_ORCHESTRATION_REQUEST"})


@dataclass
class Frame:
    """An open step with its events."""

    step: str
    step_class: str | None
    started_at: str
    status: str = "RUNNING"
    ended_at: str | None = None
    duration_ms: int | None = None
    error: str | None = None
    stages: list[dict[str, Json]] = field(default_factory=list)

    def as_json(self) -> dict[str, Json]:
        """The step for the trace."""
        return {
            "step": self.step,
            "stepClass": self.step_class,
            "sourceFile": _source_file(self.step_class),
            "status": self.status,
            "startedAt": self.started_at,
            "endedAt": self.ended_at,
            "durationMs": self.duration_ms,
            "error": self.error,
            "stages": self.stages,
        }


def build_trace(
    conversation_id: str, events: Iterable[Event], records: Mapping[int, CeConversationHistory]
) -> dict[str, Json]:
    """The trace of some turns: by turn, and flat for old clients."""
    by_turn: dict[int, list[Event]] = {}
    for event in events:
        by_turn.setdefault(event.row.turn_no or 0, []).append(event)
    turns = [_turn_document(turn_no, turn_events, records.get(turn_no)) for turn_no, turn_events in by_turn.items()]
    return {
        "conversationId": conversation_id,
        "turns": turns,
        "steps": [step for turn in turns for step in turn["steps"]],
        "stages": [_stage_document(event) for turn_events in by_turn.values() for event in turn_events],
    }


def build_frames(events: Iterable[Event]) -> list[Frame]:
    """The steps of one turn. A step without an end stays RUNNING: a dead process, or a filtered end."""
    done: list[Frame] = []
    open_frames: list[Frame] = []
    for event in events:
        payload, at = event.payload, event.row.created_at.isoformat()
        if event.name == "STEP_ENTER":
            frame = Frame(str(payload.get("step")), payload.get("stepClass"), at)
            done.append(frame)
            open_frames.append(frame)
        elif event.name in ("STEP_EXIT", "STEP_ERROR") and open_frames:
            frame = _find_open_frame(open_frames, payload.get("step"))
            open_frames.remove(frame)
            frame.status = "OK" if event.name == "STEP_EXIT" else "ERROR"
            frame.ended_at, frame.duration_ms = at, payload.get("durationMs")
            frame.error = payload.get("errorMessage")
        elif open_frames:
            open_frames[-1].stages.append(_stage_document(event))
    return done


def _find_open_frame(open_frames: list[Frame], step: str | None) -> Frame:
    return next((frame for frame in reversed(open_frames) if frame.step == step), open_frames[-1])


def _turn_document(turn_no: int, events: list[Event], record: CeConversationHistory | None) -> dict[str, Json]:
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
        "steps": [frame.as_json() for frame in build_frames(events)] or _derived_fields(events),
    }


def _derived_fields(events: list[Event]) -> list[dict[str, Json]]:
    """Steps from the timing record, when STEP_ENTER and STEP_EXIT were filtered out."""
    timing = next((event for event in events if event.name == "PIPELINE_TIMING"), None)
    if timing is None:
        return []
    return [
        {
            "step": item["step"],
            "stepClass": None,
            "sourceFile": None,
            "status": "OK" if item["success"] else "ERROR",
            "startedAt": None,
            "endedAt": None,
            "durationMs": int(item["durationMs"]),
            "error": None,
            "stages": [_stage_document(event) for event in events if event.step == item["step"]],
            "derived": True,
        }
        for item in timing.payload.get("stepList", ())
    ]


def _stage_document(event: Event) -> dict[str, Json]:
    return {
        "auditId": event.row.audit_id,
        "stage": event.row.stage,
        "turnNo": event.row.turn_no,
        "seq": event.row.seq,
        "createdAt": event.row.created_at.isoformat(),
        "payload": event.payload,
    }


def _source_file(step_class: str | None) -> str | None:
    return None if not step_class else step_class.rpartition(".")[0].replace(".", "/") + ".py"


def read_turn_trace(conversation_id: uuid.UUID, turn_no: int) -> dict[str, Any] | None:
    """The turn in the form of a conversation's trace; null when neither its events nor its record are stored."""
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
        edges += _rule_edges(step, next_step["step"])
    return {"nodes": nodes, "edges": edges}


def _rule_edges(step: Mapping[str, Json], to: str) -> Iterable[dict[str, Json]]:
    for stage in step["stages"]:
        if stage["stage"].startswith(RULE_APPLIED):
            payload = stage["payload"]
            rule = {"rule_id": payload.get("ruleId"), "action": payload.get("action")}
            yield {"from": step["step"], "to": to, "kind": "rule", **rule, "value": payload.get("actionValue")}
