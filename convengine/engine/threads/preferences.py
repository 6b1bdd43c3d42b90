"""Preferences of a session: a model, a knowledge base and the like, by the deployment's names."""

from collections.abc import Mapping, Sequence

from convengine.engine.turn.session import KNOWLEDGE_BASE, PREFERENCE_KINDS
from convengine.json_value import Json

#: The original's names of the kinds.
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


def find_problems(wanted: Mapping[str, Json], known: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The errors by sent name: an unknown kind, or an unknown id."""
    problems = {}
    for name, value in wanted.items():
        kind = ALIASES.get(name, name)
        if kind not in PREFERENCE_KINDS:
            problems[name] = f"There is no such preference. Known: {', '.join(PREFERENCE_KINDS)}."
        elif value not in known[kind]:
            problems[name] = f"{value!r} is not installed. Known: {', '.join(known[kind]) or 'none'}."
    return problems


def map_by_kind(wanted: Mapping[str, Json]) -> dict[str, str]:
    return {ALIASES.get(name, name): str(value) for name, value in wanted.items()}
