"""Ask a model to read a message into the form, and keep only what the form declares."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from convengine.engine.forms.form import Field, Form, is_meaningful
from convengine.engine.forms.message import describe_situation
from convengine.engine.forms.session_form import set_form_facts
from convengine.engine.forms.settings import ON_LLM_ERROR
from convengine.engine.forms.single_field import read_value
from convengine.engine.llm.ask import ModelQuestion, Stages, ask
from convengine.engine.prompts.fill import fill_prompts
from convengine.engine.prompts.select import decide_template
from convengine.engine.steps.forms.stages import (
    SCHEMA_EXTRACTION_LLM_ERROR,
    SCHEMA_EXTRACTION_LLM_INPUT,
    SCHEMA_EXTRACTION_LLM_OUTPUT,
)
from convengine.engine.text.compare import blank
from convengine.engine.turn.codec import loads
from convengine.engine.turn.dialogue_state import DialogueState
from convengine.engine.turn.enums import PromptUse
from convengine.engine.turn.payload import to_spoken_text
from convengine.engine.turn.rows import OutputSchema, PromptTemplate
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from convengine.engine.understanding.field import Kind
from convengine.engine.understanding.span import Situation
from convengine.json_value import Json

PURPOSE = "SCHEMA_EXTRACTION"
#: Schema keywords about missing values, which would make a model invent them.
_DEMANDS = ("required", "minItems", "minProperties")
#: A text is no value of the field's type; the field's own schema does not allow it; a text stands for a list or object.
VALUE_INVALID, VALUE_VIOLATES_SCHEMA, TYPE_UNSUPPORTED = "VALUE_INVALID", "VALUE_VIOLATES_SCHEMA", "TYPE_UNSUPPORTED"
#: Kinds whose texts are values as they are, where the schema allows them, and those whose texts may be any.
_AS_WRITTEN = (Kind.TEXT, Kind.PATTERN, Kind.DATE, Kind.TIME, Kind.DATE_TIME, Kind.DURATION)
_ANY_TEXT = (Kind.TEXT, Kind.PATTERN, Kind.CHOICE)
_JSON_TYPES: Mapping[str, tuple[type, ...]] = {"integer": (int,), "number": (int, float), "boolean": (bool,)}
#: What a model writes for no value.
_NULL = "null"
#: The schema has no such field.
UNDECLARED = "UNDECLARED"
#: Another reader found a value of the field in the same message.
ALREADY_READ = "ALREADY_READ"
#: Maximum depth of an answer.
_DEPTH = 16


@dataclass
class SanitisedValues:
    """The accepted part of an answer, and the rejected part."""

    #: How the texts of the answer are read.
    situation: Situation
    #: Values to merge into the context.
    values: dict[str, Json] = field(default_factory=dict)
    #: Dotted paths of accepted values.
    fields: list[str] = field(default_factory=list)
    #: Dotted path -> code of the reason.
    rejected: dict[str, str] = field(default_factory=dict)
    #: Fields that the answer must not change.
    settled: Collection[str] = ()

    @property
    def invalid(self) -> dict[str, str]:
        """Rejected values of the form's own fields, which the engine may ask for again."""
        return {path: why for path, why in self.rejected.items() if why not in (UNDECLARED, ALREADY_READ)}


class ModelReading(NamedTuple):
    """The model's reading of a message, and the session."""

    session: Session
    sanitised: SanitisedValues


def read_by_model(
    session: Session, turn: Turn, row: OutputSchema, form: Form, settled: Collection[str] = ()
) -> ModelReading:
    """Ask with the scope's SCHEMA_JSON template and keep what fits the form. `settled` fields stay unchanged.

    Raises PromptContextMissing, errors of the prompt, and the model's fault unless ON_LLM_ERROR is CONTINUE. An answer
    that cannot be read has no values, and raises nothing.
    """
    session = set_form_facts(session, row, form)
    template = decide_template(session, turn, PromptUse.SCHEMA_JSON)
    reply = ask(session, turn, _build_question(session, turn, template, form))
    if reply.error and not reply.error.is_unreadable:
        if turn.config(session, ON_LLM_ERROR) == "FAIL":
            raise reply.error.error(schemaId=row.schema_id, templateId=template.template_id)
        return ModelReading(session, SanitisedValues(describe_situation(session, turn, form)))
    # A model answers no question of the form, so that its texts are not read as a part or a place of an answer.
    situation = replace(describe_situation(session, turn, form), listed_options=(), known_part="")
    sanitised = sanitise_values(form, reply.value, situation, settled)
    if not blank(reply.text):
        turn.audit(
            session,
            SCHEMA_EXTRACTION_LLM_OUTPUT,
            json=reply.text if reply.value is None else reply.value,
            rejected=list(sanitised.rejected),
            rejectedReasons=sanitised.rejected,
        )
    return ModelReading(session.evolve(last_llm_output=reply.value, last_llm_stage=PURPOSE), sanitised)


def _build_question(session: Session, turn: Turn, template: PromptTemplate, form: Form) -> ModelQuestion:
    """The question to the model: the template's prompts, and the form's schema without its demands."""
    asked_field = DialogueState.of(session).asked_field
    question = to_spoken_text(session.last_assistant) if asked_field else ""
    names: dict[str, Any] = {"asked_field": asked_field, "question": question}
    prompts = fill_prompts(
        session,
        turn,
        system=template.system_prompt,
        user=template.user_prompt,
        selected={"templateId": template.template_id},
        # A field of the context keeps its name.
        **{name: value for name, value in names.items() if name not in session.context},
    )
    schema = make_optional(form.schema)
    return ModelQuestion(
        PURPOSE,
        prompts.system,
        prompts.user,
        context=session.context,
        json_schema=schema,
        temperature=template.temperature,
        template_id=template.template_id,
        stages=Stages(input=SCHEMA_EXTRACTION_LLM_INPUT, error=SCHEMA_EXTRACTION_LLM_ERROR),
        audit_payload={
            "system_prompt": prompts.system,
            "user_prompt": prompts.user,
            "schema": schema,
            "userInput": session.user_text,
        },
    )


def make_optional(schema: Json) -> Json:
    """The schema without required values, because a message rarely has all of them."""
    if isinstance(schema, Mapping):
        return {
            key: make_optional(value)
            for key, value in schema.items()
            # A property may have this name; then its value is a schema, not the keyword's value.
            if key not in _DEMANDS or isinstance(value, Mapping)
        }
    return [make_optional(entry) for entry in schema] if isinstance(schema, (list, tuple)) else schema


def sanitise_values(form: Form, answer: Json, situation: Situation, settled: Collection[str] = ()) -> SanitisedValues:
    """The usable part of an answer. Blank values are neither values nor faults."""
    result = SanitisedValues(situation, settled=settled)
    if isinstance(answer, Mapping):
        result.values = _sanitise_object(result, form, form.schema, answer, "")
    return result


def _sanitise_object(
    result: SanitisedValues, form: Form, schema: Mapping[str, Json], values: Mapping[str, Json], prefix: str
) -> dict[str, Json]:
    """The usable members of an object. `result` notes the accepted and the rejected ones, by path."""
    declared = schema.get("properties")
    declared = declared if isinstance(declared, Mapping) else {}
    required = schema.get("required")
    values_kept: dict[str, Json] = {}
    for name, value in values.items():
        path = f"{prefix}{name}"
        if name not in declared:
            result.rejected[path] = UNDECLARED
        elif is_meaningful(value) and prefix.count(".") < _DEPTH:
            field_schema = declared[name] if isinstance(declared[name], Mapping) else {}
            form_field = form.field(path)
            if form_field is None or form_field.declared is not field_schema:  # The path may be ambiguous.
                is_required = isinstance(required, list) and name in required
                form_field = Field(path, field_schema, is_required, ())
            sanitised = _sanitise_value(result, form, form_field, value)
            if is_meaningful(sanitised):
                values_kept[name] = sanitised
    return values_kept


def _sanitise_value(result: SanitisedValues, form: Form, form_field: Field, value: Json) -> Json:
    """The usable value of one field. Returns None if there is none; `result` notes why."""
    if isinstance(value, Mapping) and isinstance(form_field.declared.get("properties"), Mapping):
        return _sanitise_object(result, form, form_field.declared, value, f"{form_field.path}.")
    if form_field.path in result.settled:
        result.rejected[form_field.path] = ALREADY_READ
        return None
    sanitised = _sanitise_items(result, form, form_field, value) if "array" in form_field.types else value
    if isinstance(sanitised, list) and not sanitised:
        return None
    sanitised, problem = _coerce_value(result, form, form_field, sanitised)
    if problem:
        result.rejected[form_field.path] = problem
        return None
    if is_meaningful(sanitised):
        result.fields.append(form_field.path)
    return sanitised


def _sanitise_items(result: SanitisedValues, form: Form, form_field: Field, value: Json) -> Json:
    """A list without invalid entries; a single value becomes a list of one."""
    items = form_field.declared.get("items")
    entries = value if isinstance(value, list) else [value]
    if not isinstance(items, Mapping):
        return entries
    values_kept: list[Json] = []
    for index, entry in enumerate(entries):
        if isinstance(entry, Mapping) and isinstance(items.get("properties"), Mapping):
            sanitised: Json = _sanitise_object(result, form, items, entry, f"{form_field.path}.{index}.")
            problem = None
        else:
            item_field = Field(f"{form_field.path}.{index}", items, True, ())
            sanitised, problem = _coerce_value(result, form, item_field, entry)
        if problem:
            result.rejected[f"{form_field.path}.{index}"] = problem
        elif is_meaningful(sanitised):
            values_kept.append(sanitised)
    return values_kept


def _coerce_value(result: SanitisedValues, form: Form, form_field: Field, value: Json) -> tuple[Json, str | None]:
    """The value, converted if it is safe, and None; or no usable value and the code of the reason."""
    fits = not form.breaks(form_field, value, partly=True)
    if isinstance(value, float) and value.is_integer() and "integer" in form_field.types:
        return (int(value), None) if fits else (value, VALUE_VIOLATES_SCHEMA)
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return (value, None) if fits else (None, _describe_fault(form_field, value))
    if fits and not isinstance(value, str):
        return value, None
    return _read_text(form, form_field, str(value).strip(), result.situation)


def _read_text(form: Form, form_field: Field, text: str, situation: Situation) -> tuple[Json, str | None]:
    """The value that a text is: as it is, as JSON, or read like a user's answer to the question of the field."""
    kind = form_field.spec.kind
    if text.lower() == _NULL:
        return None, None
    if form_field.type in ("array", "object"):
        return None, TYPE_UNSUPPORTED
    fits = not form.breaks(form_field, text, partly=True)
    if fits and kind in _AS_WRITTEN:
        return text, None
    readings = list(_list_readings(form_field, text, situation))
    value = next((value for value in readings if not form.breaks(form_field, value)), None)
    if value is not None or fits:
        return (text if value is None else value), None
    return None, VALUE_VIOLATES_SCHEMA if readings or kind in _ANY_TEXT else VALUE_INVALID


def _list_readings(form_field: Field, text: str, situation: Situation) -> Iterator[Json]:
    """What a text may mean for a field: as an answer to its question, then as a JSON literal of its type."""
    if form_field.spec.kind not in (Kind.TEXT, Kind.PATTERN):
        yield from (item.value for item in read_value(text, form_field.spec, situation).taken)
    try:
        literal = loads(text)
    except ValueError:
        return
    if isinstance(literal, _JSON_TYPES.get(form_field.type, ())):
        yield literal


def _describe_fault(form_field: Field, value: Json) -> str:
    """Why a value that is no text does not fit: it has the field's type, or it has not."""
    scalar = isinstance(value, bool) and "boolean" in form_field.types
    whole = (isinstance(value, Mapping) and "object" in form_field.types) or (
        isinstance(value, list) and "array" in form_field.types
    )
    return VALUE_VIOLATES_SCHEMA if scalar or whole else VALUE_INVALID
