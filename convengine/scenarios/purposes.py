"""What scenarios call the callers of a model, and what the engine calls them (R72)."""

from collections.abc import Mapping

#: Purpose in scenarios -> purposes of the engine.
PURPOSES: Mapping[str, frozenset[str]] = {
    "dialogue_act": frozenset({"DIALOGUE_ACT"}),
    "intent": frozenset({"INTENT_AGENT"}),
    "schema": frozenset({"SCHEMA_EXTRACTION"}),
    "planner": frozenset({"MCP_PLAN"}),
    "response": frozenset({"RESPONSE_TEXT", "RESPONSE_JSON", "COLLISION"}),
    "disambiguation": frozenset({"DISAMBIGUATION"}),
    "summary": frozenset({"SUMMARY", "MEMORY"}),
    "policy": frozenset({"POLICY"}),
    "units": frozenset({"UNITS"}),
    "drift": frozenset({"DRIFT"}),
}


def scenario_purpose(purpose: str) -> str:
    """The name that scenarios use for a purpose of the engine; the engine's own when they have none."""
    return next((name for name, covered in PURPOSES.items() if purpose in covered), purpose)
