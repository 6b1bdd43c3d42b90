"""SchemaExtractionStep: fill the form of the intent and state, and lock the intent until it is complete."""

from dataclasses import replace
from typing import NamedTuple

from convengine.engine.forms.asking import find_form_language, get_texts, list_filled_fields
from convengine.engine.forms.form import Form, is_meaningful
from convengine.engine.forms.interrupted import find_interrupted, restore_values
from convengine.engine.forms.leaving import ask_to_leave
from convengine.engine.forms.life import (
    ClearCause,
    OnNo,
    clear_form,
    is_final_state,
    leave_form,
    leave_old_form,
    read_on_no,
)
from convengine.engine.forms.message import is_more_than_values, read_message
from convengine.engine.forms.offers import SOURCE, ask_what_is_meant, ask_what_to_change
from convengine.engine.forms.options_from_data import resolve_options
from convengine.engine.forms.session_form import (
    FACT_FIELDS,
    clear_form_facts,
    decide_schema,
    find_known_schema,
    find_schema,
    find_value,
    get_current_form,
    get_usable_form,
    lock_intent,
    remember_schema,
    set_form_facts,
)
from convengine.engine.forms.settings import EXTRACTOR
from convengine.engine.forms.stages import FORM_REFUSED
from convengine.engine.forms.store_reading import (
    REFUSED_CHARS,
    TABLES_THEN_WORDS,
    add_earlier,
    audit_reading,
    check_reading,
    drop_stale_results,
    find_extractor,
    has_reading_prompt_elsewhere,
    keep_offers_open,
    list_read,
    list_refused,
    merge_values,
    note_fields_read,
    store_reading,
    take_open_offers,
)
from convengine.engine.forms.user_answer import is_question, leaves_question_open
from convengine.engine.pending_actions.disambiguation import drop_record_of_other_scope
from convengine.engine.pipeline.step import Continue, Step
from convengine.engine.rules.apply import RUN_RULES, run_phase
from convengine.engine.steps.forms.ask_model import read_by_model
from convengine.engine.steps.forms.find_by_model import add_findings_of_model
from convengine.engine.steps.forms.stages import (
    AUTO_ADVANCE_FACTS,
    AUTO_ADVANCE_SKIPPED_NO_SCHEMA,
    SCHEMA_EXTRACTION_START,
    SCHEMA_STATUS,
)
from convengine.engine.text.compare import blank, code, shorten_line, truthy
from convengine.engine.turn.enums import DialogueAct, RulePhase
from convengine.engine.turn.facts import collect_schema_values, collect_session_facts
from convengine.engine.turn.owned_params import ActionParams, FormParams
from convengine.engine.turn.params import is_engine_owned
from convengine.engine.turn.rows import OutputSchema
from convengine.engine.turn.scope import ANY, INTENT_COLLISION
from convengine.engine.turn.session import NOTHING_READ, RefusedValue, ReplyOverride, Session
from convengine.engine.turn.turn import Turn
from convengine.engine.understanding.moves import MoveKind
from convengine.engine.understanding.reading import Reading
from convengine.json_value import Json

#: Session fields that collecting may change.
COLLECT_FIELDS = FACT_FIELDS | {
    "context", "last_llm_output", "last_llm_stage", "fields_read", "reply_override", "state", "transitions",
    "digression", "clarification", "action", "params",
}  # fmt: skip


class _MessageReading(NamedTuple):
    session: Session
    fields: list[str]
    refused: dict[str, RefusedValue]
    #: By the tables; empty where only a model reads.
    reading: Reading


class SchemaExtractionStep(Step):
    """Read the message into the form; rules of phase POST_SCHEMA_EXTRACTION see the result."""

    after = ("AddContainerDataStep",)
    rank = 1700
    always_runs = True
    requires_persisted = True
    writes = COLLECT_FIELDS
    rights = (RUN_RULES,)

    def execute(self, session: Session, turn: Turn) -> Continue:
        """Without a schema, release the intent; the schema that was worked on last may stay known."""
        session = leave_old_form(session, turn)
        # A rule may have led to a form that waits.
        if session.intent and (waiting := find_interrupted(session, turn, code(session.intent))):
            session = restore_values(session, turn, waiting)
        session = resolve_options(session, turn)
        row = decide_schema(session, turn)
        form = get_usable_form(session, turn, row)
        if row is None or form is None or find_schema(turn.snapshot, session.intent, session.state) is None:
            return Continue(self._check_changed_values(session, _read_known_form(session, turn), turn))
        given = session if _skips_extraction(session) else seed_from_params(session, form)
        if _skips_extraction(session) or (blank(session.user_text) and given is session):
            session = refresh_form(session, turn, row, form)
            # What a correction read may have completed the form.
            run = session.fields_read is not NOTHING_READ or truthy(session.routing.correction_applied)
            return Continue(run_phase(RulePhase.POST_SCHEMA_EXTRACTION, self.name, session, turn) if run else session)
        turn.audit(session, SCHEMA_EXTRACTION_START, schemaId=row.schema_id)
        session = collect_values(given, turn, row, form)
        return Continue(run_phase(RulePhase.POST_SCHEMA_EXTRACTION, self.name, session, turn))

    def _check_changed_values(self, before: Session, session: Session, turn: Turn) -> Session:
        """Run the rules of the state that collects, if this message changed a value of the known form.

        If one of them moves the dialogue, the open action ends, and a yes of this message runs nothing.
        """
        row, is_earlier = session.resolved_schema, before.fields_read is not NOTHING_READ
        is_changed = any(
            is_earlier or find_value(session.context, path) != find_value(before.context, path)
            for path in session.fields_read.read
        )
        if row is None or not is_changed:
            return session
        scope = session.intent, session.state
        session = run_phase(
            RulePhase.POST_SCHEMA_EXTRACTION, self.name, session, turn, rules_of_state=code(row.state_code)
        )
        if (session.intent, session.state) == scope:
            return session
        return drop_record_of_other_scope(session.with_values(ActionParams(skip_pending_action_execution=True)), turn)


def _read_known_form(session: Session, turn: Turn) -> Session:
    """Read the message into the form of an earlier state of the intent.

    No model is asked for it, and it sets no lock.
    """
    row = find_known_schema(session, turn)
    form = get_usable_form(session, turn, row)
    if row is None or form is None:
        return clear_form_facts(remember_schema(session, None))
    if _skips_extraction(session) or blank(session.user_text):
        return lock_intent(refresh_form(session, turn, row, form), True)
    if (after_no := react_to_no(session, turn, row, form)) is not None:
        return after_no
    turn.audit(session, SCHEMA_EXTRACTION_START, schemaId=row.schema_id)
    return lock_intent(collect_values(session, turn, row, form, known=True), True)


def _skips_extraction(session: Session) -> bool:
    """True when an earlier step handled the message or decided the answer.

    Also when it is open which intent was meant: then no form may read the message or lock the intent.
    """
    skip = truthy(session.routing.skip_schema_extraction) or code(session.state) == INTENT_COLLISION
    return skip or session.reset_only or session.reply_override is not None


def refresh_form(session: Session, turn: Turn, row: OutputSchema, form: Form) -> Session:
    """The session with the facts of its form, which was not read in this turn; a complete form ends the lock."""
    session = set_form_facts(session, row, form)
    if session.schema_complete:
        session = lock_intent(session, True)
    _audit_status(session, turn, row, skipped=True)
    return session


def seed_from_params(session: Session, form: Form) -> Session:
    """Fill empty fields from input params of the same name. Returns the same session if there are none."""
    values = {
        field.path: session.input_params[field.path]
        for field in form.fields
        if not is_meaningful(session.context.get(field.path))
        and is_meaningful(session.input_params.get(field.path))
        and not is_engine_owned(field.path)
    }
    return session.with_context(values) if values else session


def collect_values(session: Session, turn: Turn, row: OutputSchema, form: Form, *, known: bool = False) -> Session:
    """Read the message into the form, set the facts and the lock, and ask back what is in doubt.

    `known`: the form is that of an earlier state, which no model reads.
    """
    before = session.context
    if session.digression is not None:
        session = _settle_digression(session, turn, row)
    session, fields, refused, reading = _read_message(session, turn, row, form, known)
    if session.only_digresses:
        refused = {}
    asks = reading.asks_about_asked or leaves_question_open(session, turn, row)
    asks = asks and not (fields or refused)
    session = note_fields_read(session, turn, row, fields, refused.values(), reading, is_answer=not asks)
    if session.context != before:
        session = drop_stale_results(session, turn)
    reasons = {path: refusal.reason for path, refusal in refused.items()}
    session = set_form_facts(session, row, form, reasons)
    session = lock_intent(session, session.schema_complete)
    session = session.with_values(
        FormParams(
            schema_extracted_fields=fields,
            schema_json=collect_schema_values(session),
            context=session.context,
            session=collect_session_facts(session),
        )
    )
    _audit_status(session, turn, row)
    if MoveKind.LEAVE in reading.wishes:
        return ask_to_leave(session, turn)
    return ask_what_is_meant(session, turn, form) if reading.offered else session


def _settle_digression(session: Session, turn: Turn, row: OutputSchema) -> Session:
    """Decide whether the message is a question in between.

    A phrase as a whole is one, unless it is nothing but values. Another message that gives values must also ask.
    """
    reading = read_message(session, turn, row)
    if is_more_than_values(session, turn, row):
        return session
    if not is_question(session, turn):
        return session.evolve(digression=None) if reading.gives_anything else session
    has_values = bool(reading.taken) or (session.digression is not None and session.digression.has_values)
    return session.evolve(digression=session.digression and replace(session.digression, has_values=has_values))


def _read_message(session: Session, turn: Turn, row: OutputSchema, form: Form, known: bool) -> _MessageReading:
    """Read the message with the tables, the model, or both in that order; store what is read.

    Only the tables read the form of an earlier state (`known`), and a message that may be a question in between. A
    complete form that a model reads in other states is not read.
    """
    fields: list[str] = []
    refused: dict[str, RefusedValue] = {}
    reading, is_for_tables = Reading(), known or session.digression is not None
    if blank(session.user_text) or (not is_for_tables and _has_nothing_to_ask(session, turn, form)):
        return _MessageReading(session, fields, refused, reading)
    extractor = "DETERMINISTIC" if is_for_tables else find_extractor(session, turn)
    if extractor != "LLM":
        reading = _read_by_tables(session, turn, row, form, extractor)
        session = keep_offers_open(session, turn, row, reading)
        reading = take_open_offers(session, form, reading)
        audit_reading(session, turn, reading)
        session = store_reading(session, form, reading)
        fields = list_read(form, reading)
        refused = {refusal.field: refusal for refusal in list_refused(reading)}
    if extractor == "LLM" or (extractor == "DETERMINISTIC_THEN_LLM" and not form.status(session.context).complete):
        text, earlier = session.user_text, session.earlier_message
        # The model reads the earlier message, too, which began the form.
        seen = _set_text(session, f"{earlier.text}\n{text}") if earlier else session
        session, answer = read_by_model(seen, turn, row, form, settled=fields)
        session = _set_text(session, text).evolve(context=merge_values(session.context, answer.values))
        fields += answer.fields
        refused = {path: refusal for path, refusal in refused.items() if path not in fields}
        text = shorten_line(session.user_text, REFUSED_CHARS)
        refused |= {path: RefusedValue(path, text, reason) for path, reason in answer.invalid.items()}
    return _MessageReading(session, fields, refused, reading)


def _read_by_tables(session: Session, turn: Turn, row: OutputSchema, form: Form, extractor: str) -> Reading:
    """What the message gives the form, and before it the earlier message that begins the form."""
    earlier, reading = session.earlier_message, Reading()
    if earlier is None or not earlier.is_all:
        reading = read_message(session, turn, row)
        if extractor == TABLES_THEN_WORDS:
            reading = add_findings_of_model(session, turn, row, form, reading)
        reading = check_reading(session, turn, row, form, reading)
    if earlier is None:
        return reading
    before = _set_text(session, earlier.text).evolve(earlier_message=None)
    return add_earlier(reading, _read_by_tables(before, turn, row, form, extractor))


def _set_text(session: Session, text: str | None) -> Session:
    return session.evolve(user_text=text).with_query(session.standalone_query)


def _has_nothing_to_ask(session: Session, turn: Turn, form: Form) -> bool:
    """True for a complete form that a model reads in other states of the intent."""
    if not turn.ports.model.configured or (turn.config(session, EXTRACTOR) or "LLM") != "LLM":
        return False
    if not form.schema.get("required") or not form.status(session.context).complete:
        return False
    return has_reading_prompt_elsewhere(session, turn)


def _audit_status(session: Session, turn: Turn, row: OutputSchema, **details: Json) -> None:
    """Record which fields of the form are known and missing, with the lock of the intent."""
    turn.audit(
        session,
        SCHEMA_STATUS,
        schemaComplete=session.schema_complete,
        hasAnySchemaValue=session.schema_has_any_value,
        missingRequiredFields=list(session.missing_required_fields),
        missingFieldOptions=session.missing_field_options,
        schemaId=row.schema_id,
        **session.where,
        intentLocked=session.intent_locked,
        intentLockReason=session.intent_lock_reason,
        context=session.context,
        schemaJson=collect_schema_values(session),
        **details,
    )


class AutoAdvanceStep(Step):
    """Publish the facts for rules. This step never changes intent or state."""

    after = ("SchemaExtractionStep",)
    rank = 1800
    always_runs = True
    requires_persisted = True
    writes = FACT_FIELDS

    def execute(self, session: Session, turn: Turn) -> Continue:
        """Evaluate the form again if rules or tasks changed the context, and update the lock."""
        row = session.resolved_schema
        if row is None:
            turn.audit(session, AUTO_ADVANCE_SKIPPED_NO_SCHEMA, reason="NO_RESOLVED_SCHEMA")
            return Continue(session)
        form = get_current_form(session, turn, row)
        status = form.status(session.context)
        known = (session.schema_complete, session.schema_has_any_value, session.missing_required_fields)
        if known != (status.complete, status.has_any_value, status.missing):
            turned = status.complete != session.schema_complete
            session = set_form_facts(session, row, form)
            if turned and find_known_schema(session, turn) is not row:
                session = lock_intent(session, status.complete)
        turn.audit(
            session,
            AUTO_ADVANCE_FACTS,
            schemaComplete=session.schema_complete,
            hasAnySchemaValue=session.schema_has_any_value,
            **session.where,
        )
        return Continue(session)


def react_to_no(session: Session, turn: Turn, row: OutputSchema, form: Form) -> Session | None:
    """The session after a "no" to the confirmation, as the schema's `x-on-no` wants it.

    Returns None for other messages.
    """
    on_no = read_on_no(row)
    if on_no is None or session.dialogue.dialogue_act != DialogueAct.NEGATE:
        return None
    if not form.status(session.context).complete or is_final_state(turn.snapshot, session.intent, session.state):
        return None
    turn.audit(session, FORM_REFUSED, schemaId=row.schema_id, reaction=on_no.value)
    session = session.with_values(FormParams(form_refused=code(session.intent)))
    texts = get_texts(find_form_language(session, turn, form))
    if on_no is OnNo.ASK_WHAT_TO_CHANGE:
        paths = [field.path for field in list_filled_fields(form, session.context)]
        return ask_what_to_change(set_form_facts(session, row, form), turn, form, paths)
    if on_no is OnNo.RESTART:
        session = clear_form(session, turn, row, ClearCause.RESTART)
        state = code(row.state_code)
        session = session.move_to(state=None if state == ANY else state, cause="FORM_REFUSED")
        return set_form_facts(session, row, form)
    session = leave_form(session, turn, row, "FORM_REFUSED")
    return session.evolve(reply_override=ReplyOverride(texts["cancelled"], SOURCE))
