"""The names of model purposes in scenarios and in the engine (R72)."""

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
    """The scenario name of an engine purpose; the engine's own if there is none."""
    return next((name for name, covered in PURPOSES.items() if purpose in covered), purpose)
