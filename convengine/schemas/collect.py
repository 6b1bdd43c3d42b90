"""Collecting: what the message adds to the form, and what is known afterwards (pipeline-2 5.2 to 5.4)."""

from collections.abc import Mapping
from typing import Any

from convengine.domain.catalogue.data import CLEAR_MCP_ON_FRESH_VALUES, EXTRACTOR
from convengine.domain.enums import DialogueAct
from convengine.domain.facts import schema_values, session_dict
from convengine.domain.params import engine_owned
from convengine.domain.rows import OutputSchema
from convengine.domain.session import Session
from convengine.domain.stages import Stage
from convengine.domain.text import blank
from convengine.domain.turn import Turn
from convengine.schemas.extract import Extraction, extract
from convengine.schemas.facts import FACT_FIELDS, locked, with_facts
from convengine.schemas.form import Form
from convengine.schemas.select import schema_of
from convengine.schemas.status import meaningful

Json = Any
#: Session fields that collecting may change.
COLLECT_FIELDS = FACT_FIELDS | {"context"}
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
    found = _read(session, turn, row, form)
    session = _merged(session, turn, {one.field: one.value for one in found.extracted})
    session = with_facts(session, row, form.status(session.context), {one.field: one.reason for one in found.rejected})
    session = locked(session, session.schema_complete)
    session = session.with_params(
        {
            "schema_extracted_fields": [one.field for one in found.extracted],
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


def _read(session: Session, turn: Turn, row: OutputSchema, form: Form) -> Extraction:
    """What the engine's own reader finds, with its stage; nothing where only a model is to read (R10)."""
    if blank(session.user_text) or not _reads_itself(session, turn):
        return Extraction()
    found = extract(
        form,
        session.user_text,
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


def _reads_itself(session: Session, turn: Turn) -> bool:
    return not turn.ports.model.configured or (turn.config(session, EXTRACTOR) or "LLM") != "LLM"


def _merged(session: Session, turn: Turn, found: Mapping[str, Json]) -> Session:
    """The session with what was read; a new value drops the results of tool calls, which no longer fit (5.2 (11))."""
    context = session.context
    for path, value in found.items():
        context = merged(context, _nested(path, value))
    fresh = context != session.context
    session = session.evolve(context=context)
    return session.without_context("mcp") if fresh and turn.config(session, CLEAR_MCP_ON_FRESH_VALUES) else session


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
