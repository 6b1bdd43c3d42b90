"""`ce_output_schema`: the fields to collect for an intent and state."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from django.db import models
from jsonschema import Draft202012Validator

from config_admin.tables.base_model import ScopedRow, SpokenRow, index
from config_admin.tables.model_fields import make_enabled_field, note, priority, word
from config_admin.validation import common, programs, relations
from config_admin.validation.columns import ColumnProblem, NaturalKey, Reference, declare_column
from config_admin.validation.draft import Draft, Finding, SaveChecks
from config_admin.validation.relations import UNREADABLE, as_json, sort_properties
from convengine.engine.forms.asking import ASK, ASK_AGAIN, DONE, INVALID
from convengine.engine.forms.composed_schemas import find_broken_reference, write_out
from convengine.engine.forms.options_from_data import find_source_problem
from convengine.engine.forms.settings import EXTRACTOR
from convengine.engine.prompts.select import find_capabilities
from convengine.engine.rules.actions.contract import ENGINE_BRANCHES
from convengine.engine.steps.intents.settings import RESET_INTENT_CODES
from convengine.engine.text.compare import code
from convengine.engine.text.wording import did_you_mean, join_names
from convengine.engine.turn import live_settings, rows
from convengine.engine.turn.enums import PromptUse, SchemaType
from convengine.engine.turn.facts import RESERVED_FACTS
from convengine.engine.turn.field_options import OPTIONS_FROM
from convengine.engine.turn.local_time import CLOCK
from convengine.engine.turn.scope import ANY, UNKNOWN
from convengine.engine.turn.translations import list_schema_texts
from convengine.engine.understanding.field import BUILT_IN_KINDS, read_kind_name
from convengine.json_value import Json

_Properties = dict[str, Json]
ORDER = "x-order"
#: Keys of a schema whose value is a schema, a list of schemas, and schemas by name.
_SCHEMA, _LIST, _BY_NAME = ("items", "then", "else"), ("allOf", "anyOf", "oneOf"), ("properties", "$defs")


class SchemaField(models.JSONField):
    """A JSON column for the schema of a form, which shows its properties in the order in which the form asks."""

    def to_python(self, value: Any) -> Any:
        """What people and files give, with the order as written."""
        return write_order(super().to_python(value))

    def from_db_value(self, *args: Any) -> Any:
        """The stored document in the order of the form."""
        return _change(super().from_db_value(*args), _sort)

    def deconstruct(self) -> Any:
        """Migrations see a JSON column."""
        name, _, args, options = super().deconstruct()
        return name, "django.db.models.JSONField", args, options


def write_order(schema: Json) -> Json:
    """The schema with `x-order` in properties whose order would be lost.

    Where some have it, they are counted again if it says what their positions say: a field was added between them.
    """
    return _change(schema, _number)


def _change(schema: Json, change: Callable[[_Properties], _Properties]) -> Json:
    if not isinstance(schema, dict):
        return schema
    changed = {key: _change_inside(key, value, change) for key, value in schema.items()}
    properties = changed.get("properties")
    return changed | {"properties": change(properties)} if isinstance(properties, dict) else changed


def _change_inside(key: str, value: Json, change: Callable[[_Properties], _Properties]) -> Json:
    if key in _SCHEMA:
        return _change(value, change)
    if key in _LIST and isinstance(value, list):
        return [_change(part, change) for part in value]
    if key in _BY_NAME and isinstance(value, dict):
        return {name: _change(part, change) for name, part in value.items()}
    return value


def _number(properties: _Properties) -> _Properties:
    given = [part[ORDER] for part in properties.values() if isinstance(part, dict) and ORDER in part]
    is_kept = len(given) == len(properties) or (not given and list(properties) == sorted(properties))
    if is_kept or given != list(range(1, len(given) + 1)):
        return properties
    return {
        name: {**declared, ORDER: number} if isinstance(declared, dict) else declared
        for number, (name, declared) in enumerate(properties.items(), 1)
    }


def _sort(properties: _Properties) -> _Properties:
    in_release = dict(sorted(properties.items()))
    return {name: properties[name] for name in sort_properties({"properties": in_release})}


Schema = Draft[rows.OutputSchema]
#: Names that no field may have; rules write `pending_slot`, but no form may.
RESERVED = ENGINE_BRANCHES | RESERVED_FACTS | {"pending_slot", "pendingSlot"}
#: Texts of a field that are templates.
_TEMPLATES = tuple(f"/{key}" for key in (ASK, ASK_AGAIN, INVALID, DONE))
#: Names that were reserved later: a stored form may keep such a field.
RESERVED_LATER = frozenset({CLOCK, "dialogue"})


def _check_shape(draft: Schema) -> Iterator[Finding]:
    schema = as_json(draft.row.json_schema)
    if schema is UNREADABLE:
        return
    if not (isinstance(schema, dict) and schema.get("type") == "object" and isinstance(schema.get("properties"), dict)):
        yield draft.error(
            "SCHEMA_SHAPE",
            "json_schema",
            'The JSON Schema must be an object with "type": "object" and "properties".',
        )
        return
    yield from check_json_schema(draft, "json_schema", schema)
    if reference := find_broken_reference(write_out(schema)):
        message = (
            f"The reference {reference} points to nothing, to itself or to another document. Write the property out."
        )
        yield draft.error("SHAPE_INVALID", "json_schema", message)
    for part in list_subschemas(schema):
        required, extractors = part.get("required"), part.get("x-extract")
        for name in required if isinstance(required, list) else ():
            if name not in relations.get_properties(part):
                text = f'"required" names {name}, which is not in "properties".'
                yield draft.error("SCHEMA_REQUIRED", "json_schema", text)
        for text in (part.get("pattern"), *(extractors if isinstance(extractors, list) else (extractors,))):
            if isinstance(text, str):
                yield from programs.check_regex(draft, "json_schema", text)


def _check_texts(draft: Schema) -> Iterator[Finding]:
    """New texts that are broken templates. A stored one is left, and the built-in question is asked."""
    stored = draft.snapshot.row(rows.OutputSchema, draft.row.pk)
    known = dict(list_schema_texts(as_json(stored.json_schema))) if stored else {}
    for at, text in list_schema_texts(as_json(draft.row.json_schema)):
        if at.endswith(_TEMPLATES) and known.get(at) != text:
            findings = programs.check_template(draft, "json_schema", text, intent=ANY)
            yield from (replace(each, message=f"{at}: {each.message}") for each in findings if each.is_error)


def check_json_schema(draft: Draft[Any], field: str, schema: Any) -> Iterator[Finding]:
    for problem in Draft202012Validator(Draft202012Validator.META_SCHEMA).iter_errors(schema):
        where = "/".join(str(step) for step in problem.absolute_path)
        yield draft.error(
            "SHAPE_INVALID", field, f"This is not a valid JSON Schema: {problem.message} ({where or 'top level'})."
        )
        return


def list_subschemas(schema: Any) -> Iterator[Mapping[str, Any]]:
    """The schema, and those of its properties and items, at any depth."""
    if not isinstance(schema, Mapping):
        return
    yield schema
    for child in (*relations.get_properties(schema).values(), schema.get("items")):
        yield from list_subschemas(child)


def _check_kinds(draft: Schema) -> Iterator[Finding]:
    """A kind of a field is built in, or a module of the deployment finds its values."""
    known = BUILT_IN_KINDS | draft.world.finders
    for part in list_subschemas(as_json(draft.row.json_schema)):
        for name, declared in relations.get_properties(part).items():
            kind = read_kind_name(declared) if isinstance(declared, Mapping) else ""
            if kind and kind not in known:
                yield draft.error(
                    "NOT_REGISTERED",
                    "json_schema",
                    f"No finder is registered for the kind {kind} of the field {name}.{did_you_mean(kind, known)}"
                    f" Known: {join_names(known)}.",
                )


def _check_option_sources(draft: Schema) -> Iterator[Finding]:
    for part in list_subschemas(as_json(draft.row.json_schema)):
        for name, declared in relations.get_properties(part).items():
            source = declared.get(OPTIONS_FROM) if isinstance(declared, Mapping) else None
            if source is not None and (problem := find_source_problem(source)):
                yield draft.error("OPTIONS_SOURCE_INVALID", "json_schema", f"Choices of {name}: {problem}")


def _check_reserved_names(draft: Schema) -> Iterator[Finding]:
    stored = draft.snapshot.row(rows.OutputSchema, draft.row.pk)
    reserved = RESERVED_LATER & set(relations.get_properties(stored.json_schema)) if stored else frozenset()
    for name in relations.get_properties(draft.row.json_schema):
        message = f"{name} is a reserved name of the engine. Choose another field name."
        if name in reserved:
            yield draft.warning("SCHEMA_RESERVED_FIELD", "json_schema", message)
        elif name in RESERVED | RESERVED_LATER:
            yield draft.error("SCHEMA_RESERVED_FIELD", "json_schema", message)


def _check_prompt(draft: Schema) -> Iterator[Finding]:
    row = draft.row
    templates = relations.find_rows_of_intent(draft.snapshot, rows.PromptTemplate, row.intent_code)
    state = code(row.state_code)
    states = {
        code(template.state_code) for template in templates if code(template.response_type) == PromptUse.SCHEMA_JSON
    }
    if not row.enabled or states & {state, ANY}:
        return
    if not draft.world.model_configured or live_settings.read(draft.snapshot, EXTRACTOR).value == "DETERMINISTIC":
        return
    text = (
        f"No prompt template of type SCHEMA_JSON applies to intent {code(row.intent_code)}, state {state}, so "
        "the engine reads the fields without a model. Add one to let a model read."
    )
    if state == ANY and states:
        text = (
            f"The prompt templates of type SCHEMA_JSON cover only the states {join_names(sorted(states))}, so the "
            "engine reads the fields in other states without a model. Add one for state ANY to let a model read."
        )
    yield draft.warning("SCHEMA_NO_PROMPT", None, text)


def _check_required(draft: Schema) -> Iterator[Finding]:
    schema = as_json(draft.row.json_schema)
    if schema["properties"] and not schema.get("required"):
        yield draft.warning(
            "SCHEMA_NO_REQUIRED",
            "json_schema",
            "No field is required, so the form is complete at once. Mark the required fields.",
        )


def _check_confirmation_states(draft: Schema) -> Iterator[Finding]:
    """A form for one concrete state leaves the confirming states of the same intent without a form."""
    row = draft.row
    own = relations.find_rows_of_intent(draft.snapshot, rows.OutputSchema, row.intent_code)
    states = {code(schema.state_code) for schema in (*draft.others(own), row)}
    if not row.enabled or ANY in states:
        return
    for template in relations.find_rows_of_intent(draft.snapshot, rows.PromptTemplate, row.intent_code):
        state = code(template.state_code)
        if state not in states and state != ANY and find_capabilities(template) & {"affirm", "edit"}:
            yield report_confirmation_without_form(draft, "state_code", state)
            return


def report_confirmation_without_form(draft: Draft[Any], field: str, state: str) -> Finding:
    """The finding, here and at the template, about a confirming state without a form."""
    return draft.warning(
        "CONFIRM_STATE_NO_SCHEMA",
        field,
        f"The prompt template for state {state} lets the user confirm or edit, but no form applies in that state. "
        f"Set the state of a form to ANY, or add a form for {state}.",
    )


def is_reset_intent(draft: Draft[Any]) -> bool:
    """True for a row of an intent that resets the conversation."""
    return code(draft.row.intent_code) in live_settings.read(draft.snapshot, RESET_INTENT_CODES).value


def check_reset_intent(draft: Draft[Any]) -> Iterator[Finding]:
    """No row of an intent that resets the conversation has an effect."""
    if is_reset_intent(draft):
        text = "This intent resets the conversation as soon as it is recognised, so its rows are never used."
        yield draft.warning("RESET_INTENT_MIXED", "intent_code", text)


class CeOutputSchema(SpokenRow, ScopedRow):
    """A form: what must be known before the flow can go on."""

    save_checks = SaveChecks(
        form=(_check_shape,),
        change=(_check_reserved_names, _check_texts),
        fit=(
            _check_kinds,
            _check_option_sources,
            _check_prompt,
            _check_required,
            _check_confirmation_states,
            check_reset_intent,
            common.check_duplicate_row,
            common.make_shadowing_check("schema_type", finding_code="SCHEMA_OPTION_SHADOWED"),
        ),
    )
    natural_key = NaturalKey(("intent_code", "state_code", "schema_type"))

    schema_id = models.BigAutoField("id", primary_key=True)
    schema_type = word(SchemaType, default=SchemaType.SCHEMA_JSON.value, verbose_name="schema type")
    json_schema = SchemaField(
        verbose_name="JSON Schema", help_text='An object with "type": "object", "properties" and "required".'
    )
    description = note("Available to prompts as schema_description.")
    enabled = make_enabled_field()
    priority = priority()

    class Meta(ScopedRow.Meta):
        db_table = "ce_output_schema"
        verbose_name = "form"
        indexes = [index("ce_output_schema_lookup", "intent_code", "state_code", "schema_type", "enabled", "priority")]


# The scope of all tables, but for ANY: a form belongs to one intent.
declare_column(
    CeOutputSchema._meta.get_field("intent_code"),
    reference=Reference.INTENT,
    reserved=(UNKNOWN,),
    refused=ColumnProblem("SCHEMA_INTENT_ANY", "A form belongs to one intent. Choose the intent."),
)
