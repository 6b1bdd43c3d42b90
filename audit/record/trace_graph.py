"""A turn's trace as a graph: steps with their timings, and the edges between them (sessions 8)."""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from audit.record.expand import expand_events
from audit.record.queries import read_turns
from audit.record.step_timeline import build_trace
from convengine.engine.rules.stages import RULE_APPLIED

Json = Any


def build_graphs(conversation_id: uuid.UUID, turn_nos: Sequence[int]) -> dict[int, dict[str, Json]]:
    """The graph of each of the turns that have events."""
    found = build_trace(str(conversation_id), expand_events(read_turns(conversation_id, turn_nos)), {})
    return {turn["turnNo"]: build_graph(turn["steps"]) for turn in found["turns"]}


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
