"""The JSON Schema of a condition, for editors and imports; made from the table of operators."""

from collections.abc import Mapping
from typing import Any

from convengine.engine.rules.conditions.operators import OPERATORS
from convengine.engine.rules.conditions.rows import MAX_LEVELS, MAX_NAME
from convengine.engine.rules.conditions.values import MAX_ROWS

_ID = "https://convengine.invalid/condition.schema.json"


def build_condition_schema() -> dict[str, Any]:
    """The schema. It counts rows per group; the check on saving counts those of the whole condition."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": _ID,
        "title": "Condition of a rule",
        "description": (
            f"Groups of comparisons in the shape of react-querybuilder: at most {MAX_LEVELS} levels and "
            f"{MAX_ROWS} comparisons."
        ),
        "$ref": "#/$defs/group1",
        "$defs": {
            **{f"group{level}": _build_group(level) for level in range(1, MAX_LEVELS + 1)},
            "comparison": _build_comparison(),
        },
    }


def _build_group(level: int) -> Mapping[str, Any]:
    """The schema of a group; at the last level it has no groups as members."""
    comparison = {"$ref": "#/$defs/comparison"}
    members = [comparison, {"$ref": f"#/$defs/group{level + 1}"}] if level < MAX_LEVELS else [comparison]
    return {
        "type": "object",
        "required": ["combinator", "rules"],
        "additionalProperties": False,
        "properties": {
            "combinator": {"enum": ["and", "or"], "description": "Must all, or any, of the rules hold?"},
            "not": {"type": "boolean", "default": False, "description": "True: the opposite of the group holds."},
            "rules": {"type": "array", "minItems": 1, "maxItems": MAX_ROWS, "items": {"anyOf": members}},
            "id": {"type": "string"},
        },
    }


def _build_comparison() -> Mapping[str, Any]:
    """The schema of a comparison; whether its value fits the operator is checked on saving."""
    return {
        "type": "object",
        "required": ["field", "operator"],
        "additionalProperties": False,
        "properties": {
            "field": {
                "type": "string",
                "minLength": 1,
                "maxLength": MAX_NAME,
                "description": "A field of the form, intent, state, message, act, params.name, memory, clock.today.",
            },
            "operator": {
                "oneOf": [
                    {"const": operator.name, "title": operator.label, "description": f"Needs {operator.needs.words}."}
                    for operator in OPERATORS.values()
                ]
            },
            "value": {
                "type": ["string", "number", "boolean", "array", "null"],
                "items": {"type": ["string", "number", "boolean"]},
                "description": "Dates may be relative: today, today+2d, now-3h.",
            },
            "valueSource": {
                "enum": ["value", "field"],
                "default": "value",
                "description": "field: the value is the name of another field.",
            },
            "id": {"type": "string"},
        },
    }
