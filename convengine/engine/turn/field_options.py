"""Options of fields that the data of the conversation gave, where the JSON Schema only names the data."""

from collections.abc import Mapping, Sequence

from convengine.engine.turn.dialogue_state import DialogueState
from convengine.engine.turn.rows import OutputSchema
from convengine.engine.turn.session import Session
from convengine.json_value import Json

#: The key of a property that names the data.
OPTIONS_FROM = "x-options-from"
#: By the path of a field, its options as `x-options` has them.
GivenOptions = Mapping[str, Sequence[Mapping[str, Json]]]


def list_given_options(session: Session, row: OutputSchema) -> GivenOptions:
    """The options of a form that its data gave last."""
    options: GivenOptions = DialogueState.of(session).options.get(str(row.schema_id)) or {}
    return options


def write_schema(session: Session, row: OutputSchema) -> Json:
    """The JSON Schema of a row, with the options that its data gave."""
    options = list_given_options(session, row)
    return write_options(row.json_schema, options) if options else row.json_schema


def write_options(schema: Json, options: GivenOptions, prefix: str = "") -> Json:
    """The schema whose fields have these options, as if somebody had written them."""
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    if not isinstance(properties, Mapping):
        return schema
    written = {name: _write_field(declared, options, f"{prefix}{name}") for name, declared in properties.items()}
    return {**schema, "properties": written}


def _write_field(declared: Json, options: GivenOptions, path: str) -> Json:
    written = write_options(declared, options, f"{path}.")
    if path not in options or not isinstance(written, Mapping):
        return written
    return {**written, "x-options": options[path], "enum": [option["value"] for option in options[path]]}
