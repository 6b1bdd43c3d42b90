"""What the form of a condition offers: operators, and the fields with their kinds and known values."""

from collections.abc import Iterator, Mapping

from config_admin.editing.context import EditorContext
from config_admin.editing.pickers import params
from config_admin.validation.relations import get_properties
from convengine.engine.rules.conditions.operators import OPERATORS, ComparedKind
from convengine.engine.rules.conditions.words import NOUNS
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.enums import DialogueAct, Lifecycle
from convengine.engine.turn.local_time import WEEKDAYS
from convengine.json_value import Json

#: A field: its name, and where known its label, kind, intent and values.
Field = Mapping[str, Json]
_TIME_FORMATS = frozenset({"date", "time", "date-time"})
#: Facts of a turn that are no fields of a form.
FACTS: tuple[Field, ...] = (
    {"name": "message", "kind": ComparedKind.TEXT, "label": "the message"},
    {
        "name": "act",
        "kind": ComparedKind.CHOICE,
        "label": "the dialogue act",
        "values": [act.value for act in DialogueAct],
    },
    {"name": "intent", "kind": ComparedKind.CHOICE, "label": "the intent", "list": "id_intent_code_options"},
    {"name": "state", "kind": ComparedKind.CHOICE, "label": "the state", "list": "id_state_code_options"},
    {"name": "clock.today", "kind": ComparedKind.TIME, "label": "the day"},
    {"name": "clock.now", "kind": ComparedKind.TIME, "label": "the time"},
    {"name": "clock.weekday", "kind": ComparedKind.CHOICE, "label": "the weekday", "values": list(WEEKDAYS)},
    {"name": "clock.hour", "kind": ComparedKind.NUMBER, "label": "the hour, from 0 to 23"},
    {"name": "schemaComplete", "kind": ComparedKind.YES_NO, "label": "the form is complete"},
    {"name": "hasAnySchemaValue", "kind": ComparedKind.YES_NO, "label": "some fields are filled in"},
    {"name": "missingRequiredFields", "kind": ComparedKind.LIST, "label": NOUNS["missingRequiredFields"]},
    {"name": "memory", "kind": ComparedKind.TEXT, "label": "the summary of the conversation"},
    {"name": "turnNo", "kind": ComparedKind.NUMBER, "label": NOUNS["turnNo"]},
    {
        "name": "lifecycle",
        "kind": ComparedKind.CHOICE,
        "label": NOUNS["lifecycle"],
        "values": [state.value for state in Lifecycle],
    },
)


def describe_operators() -> list[Json]:
    """The operators for the form, in its order."""
    return [
        {
            "name": operator.name,
            "label": operator.label,
            "needs": operator.needs.name,
            "kinds": list(operator.kinds),
            "values": list(operator.values),
        }
        for operator in OPERATORS.values()
    ]


def list_condition_fields(editor: EditorContext) -> list[Field]:
    """The fields of all forms with their intent, then the facts, then the input params."""
    return [*_list_form_fields(editor), *FACTS, *({"name": f"params.{option.value}"} for option in params(editor))]


def _list_form_fields(editor: EditorContext) -> Iterator[Field]:
    known = {fact["name"] for fact in FACTS}
    for schema in editor.snapshot.enabled_rows(rows.OutputSchema):
        for name, declared in get_properties(schema.json_schema).items():
            if isinstance(declared, Mapping):
                # A short name of a fact means the fact.
                shown = f"context.{name}" if name in known else name
                title, values = str(declared.get("title") or ""), _list_values(declared)
                described = {"kind": find_kind(declared), "label": title, "values": values}
                filled = {key: value for key, value in described.items() if value}
                yield {"name": shown, "intent": code(schema.intent_code), **filled}


def _list_values(declared: Mapping[str, Json]) -> list[str]:
    """The choices of a declared field; empty if it has none."""
    options = declared.get("x-options")
    if isinstance(options, list):
        return [str(option["value"]) for option in options if isinstance(option, Mapping) and "value" in option]
    choices = declared.get("enum")
    return [str(choice) for choice in choices if choice is not None] if isinstance(choices, list) else []


def find_kind(declared: Mapping[str, Json]) -> ComparedKind:
    types = declared.get("type")
    named = next((name for name in types if name != "null"), "") if isinstance(types, list) else types
    if "enum" in declared or "x-options" in declared:
        return ComparedKind.CHOICE
    if declared.get("format") in _TIME_FORMATS or declared.get("x-kind") in ("date", "time", "datetime"):
        return ComparedKind.TIME
    if named in ("number", "integer"):
        return ComparedKind.NUMBER
    if named == "array":
        return ComparedKind.LIST
    return ComparedKind.YES_NO if named == "boolean" else ComparedKind.TEXT
