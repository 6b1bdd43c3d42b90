"""A turn's trace as a graph: steps with their timings, and what led from one to the next (sessions 8)."""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from audit.expand import expanded
from audit.queries import whole_turns
from audit.timeline import trace
from convengine.domain.stages import Stage

Json = Any


def graphs(conversation_id: uuid.UUID, turn_nos: Sequence[int]) -> dict[int, dict[str, Json]]:
    """The graph of each of the turns that left events."""
    found = trace(str(conversation_id), expanded(whole_turns(conversation_id, turn_nos)), {})
    return {turn["turnNo"]: graph(turn["steps"]) for turn in found["turns"]}


def graph(steps: Sequence[Mapping[str, Json]]) -> dict[str, Json]:
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
    for here, there in pairwise(steps):
        edges.append({"from": here["step"], "to": there["step"], "kind": "order"})
        edges += _jumps(here, there["step"])
    return {"nodes": nodes, "edges": edges}


def _jumps(step: Mapping[str, Json], to: str) -> Iterable[dict[str, Json]]:
    for stage in step["stages"]:
        if stage["stage"].startswith(Stage.RULE_APPLIED):
            payload = stage["payload"]
            told = {"rule_id": payload.get("ruleId"), "action": payload.get("action")}
            yield {"from": step["step"], "to": to, "kind": "rule", **told, "value": payload.get("actionValue")}
