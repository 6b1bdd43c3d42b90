"""What a session prefers: a model, a knowledge base and the like, by the names of this deployment (sessions 8, R55)."""

from collections.abc import Mapping, Sequence
from typing import Any

from convengine.domain.preferences import KINDS, KNOWLEDGE_BASE

Json = Any
#: The seed's names of the kinds.
ALIASES: Mapping[str, str] = {
    "preferredModel": "model",
    "preferredPlannerPlugin": "planner",
    "preferredPlanner": "planner",
    "preferredSeedDetectorPlugin": "intent_resolver",
    "preferredSeedDetector": "intent_resolver",
    "preferredKBPlugin": KNOWLEDGE_BASE,
    "preferredKnowledgeBase": KNOWLEDGE_BASE,
    "mountedKbId": KNOWLEDGE_BASE,
    "preferredGoalSolverPlugin": "tool_set",
    "preferredToolSet": "tool_set",
}


def problems(wanted: Mapping[str, Json], known: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """What is wrong, by the name that was sent: an unknown kind, or an id that nothing here has."""
    found = {}
    for name, value in wanted.items():
        kind = ALIASES.get(name, name)
        if kind not in KINDS:
            found[name] = f"There is no such preference. Known: {', '.join(KINDS)}."
        elif value not in known[kind]:
            found[name] = f"{value!r} is not installed. Known: {', '.join(known[kind]) or 'none'}."
    return found


def by_kind(wanted: Mapping[str, Json]) -> dict[str, str]:
    """The preferences under our names of the kinds."""
    return {ALIASES.get(name, name): str(value) for name, value in wanted.items()}
