"""Collecting: what the message adds to the form, and what is known afterwards (pipeline-2 5.2 to 5.4)."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from convengine.domain.catalogue.data import CLEAR_MCP_ON_FRESH_VALUES, EXTRACTOR
from convengine.domain.enums import DialogueAct
from convengine.domain.facts import schema_values, session_dict
from convengine.domain.params import engine_owned
from convengine.domain.rows import OutputSchema
from convengine.domain.session import Session
from convengine.domain.stages import Stage
from convengine.domain.text import blank
from convengine.domain.turn import Turn
from convengine.schemas.asked import read_by_model
from convengine.schemas.extract import Extraction, extract
from convengine.schemas.facts import FACT_FIELDS, locked, with_facts
from convengine.schemas.form import Form
from convengine.schemas.select import schema_of
from convengine.schemas.status import meaningful

Json = Any
#: Session fields that collecting may change.
COLLECT_FIELDS = FACT_FIELDS | {"context", "last_llm_output", "last_llm_stage"}
_SLOTS = ("pending_slot", "pendingSlot")


def hydrated(session: Session, turn: Turn, row: OutputSchema, form: Form) -> Session:
    """The session knowing its form as it stands; a lock ends when the form is complete (5.4)."""
    session = with_facts(session, row, form.status(session.context))
    if session.schema_complete:
        session = locked(session, True)
    _audit_status(session, turn, row, skipped=True)
    return session


def seeded(session: Session, form: Form) -> Session:
    """The session with empty fields filled from input params of the same name (5.2 (6)); else the same session."""
    found = {
        field.path: session.input_params[field.path]
        for field in form.fields
        if not meaningful(session.context.get(field.path))
        and meaningful(session.input_params.get(field.path))
        and not engine_owned(field.path)
    }
    return session.with_context(found) if found else session


def collected(session: Session, turn: Turn, row: OutputSchema, form: Form) -> Session:
    """The session after the message was read into the form, judged and locked. `session` is the seeded one."""
    before = session.context
    session, fields, invalid = _read(session, turn, row, form)
    if session.context != before and turn.config(session, CLEAR_MCP_ON_FRESH_VALUES):
        # The results of earlier tool calls no longer fit (5.2 (11)).
        session = session.without_context("mcp")
    session = with_facts(session, row, form.status(session.context), invalid)
    session = locked(session, session.schema_complete)
    session = session.with_params(
        {
            "schema_extracted_fields": fields,
            "schema_json": schema_values(session),
            "context": session.context,
            "session": session_dict(session),
        }
    )
    _audit_status(session, turn, row)
    return session


def merged(context: Mapping[str, Json], values: Mapping[str, Json]) -> dict[str, Json]:
    """The context with values over it: objects key by key, all else as a whole; nothing empty replaces anything."""
    result = dict(context)
    for key, value in values.items():
        if not meaningful(value):
            continue
        held = result.get(key)
        inner = isinstance(value, Mapping) and isinstance(held, Mapping)
        result[key] = merged(held, value) if inner and isinstance(held, Mapping) else value
    return result


def asked_for(session: Session, turn: Turn, row: OutputSchema, form: Form) -> tuple[str, ...]:
    """What the user was asked for: the pending slot, else what was missing when the turn began in this form."""
    for key in _SLOTS:
        slot = session.context.get(key)
        if isinstance(slot, str) and form.field(slot):
            return (slot,)
    before = schema_of(turn.snapshot, session.turn_start_intent, session.turn_start_state)
    return form.status(session.context).missing if before is row else ()


class _Reading(NamedTuple):
    """The session with what was read, the fields that were, and what was said that cannot stand there."""

    session: Session
    fields: list[str]
    invalid: dict[str, str]


def _read(session: Session, turn: Turn, row: OutputSchema, form: Form) -> _Reading:
    """The message in the form, read by the engine, by the model, or by both in that order (R10)."""
    fields: list[str] = []
    invalid: dict[str, str] = {}
    if blank(session.user_text):
        return _Reading(session, fields, invalid)
    extractor = _extractor(session, turn)
    if extractor != "LLM":
        found = _read_here(session, turn, row, form)
        for one in found.extracted:
            session = session.evolve(context=merged(session.context, _nested(one.field, one.value)))
        fields = [one.field for one in found.extracted]
        invalid = {one.field: one.reason for one in found.rejected}
    if extractor == "LLM" or (extractor == "DETERMINISTIC_THEN_LLM" and not form.status(session.context).complete):
        session, answer = read_by_model(session, turn, row, form, settled=fields)
        session = session.evolve(context=merged(session.context, answer.values))
        fields += answer.fields
        invalid = {path: why for path, why in invalid.items() if path not in fields} | answer.invalid
    return _Reading(session, fields, invalid)


def _extractor(session: Session, turn: Turn) -> str:
    """Who reads: nobody but the engine where there is no model."""
    if not turn.ports.model.configured:
        return "DETERMINISTIC"
    return turn.config(session, EXTRACTOR) or "LLM"


def _read_here(session: Session, turn: Turn, row: OutputSchema, form: Form) -> Extraction:
    """What the engine's own reader finds, with its stage."""
    found = extract(
        form,
        session.user_text or "",
        asked=asked_for(session, turn, row, form),
        missing=[field.path for field in form.leaves if not meaningful(_at(session.context, field.path))],
    )
    if found.rejected and session.input_params.get("dialogue_act") == DialogueAct.EDIT:
        # A correction is made as a whole or not at all (pipeline-1 10.4 (6)), also where words are read twice.
        found = Extraction(rejected=found.rejected)
    turn.audit(
        session,
        Stage.SCHEMA_EXTRACTION_DETERMINISTIC,
        extracted=[{"field": o.field, "value": o.value, "span": list(o.span), "by": o.by} for o in found.extracted],
        rejected=[{"field": o.field, "value": o.value, "reason": o.reason} for o in found.rejected],
    )
    return found


def _nested(path: str, value: Json) -> dict[str, Json]:
    first, _, rest = path.partition(".")
    return {first: _nested(rest, value) if rest else value}


def _at(context: Mapping[str, Json], path: str) -> Json:
    here: Json = context
    for part in path.split("."):
        here = here.get(part) if isinstance(here, Mapping) else None
    return here


def _audit_status(session: Session, turn: Turn, row: OutputSchema, **about: Json) -> None:
    turn.audit(
        session,
        Stage.SCHEMA_STATUS,
        schemaComplete=session.schema_complete,
        hasAnySchemaValue=session.schema_has_any_value,
        missingRequiredFields=list(session.missing_required_fields),
        missingFieldOptions=session.missing_field_options,
        schemaId=row.schema_id,
        intent=session.intent,
        state=session.state,
        intentLocked=session.intent_locked,
        intentLockReason=session.intent_lock_reason,
        context=session.context,
        schemaJson=schema_values(session),
        **about,
    )
