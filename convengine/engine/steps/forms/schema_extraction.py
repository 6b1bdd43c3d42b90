"""SchemaExtractionStep: fill the form of the intent and state, and lock the intent until it is complete.

Source: pipeline-2 5.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from convengine.engine.forms.asking import (
    asks_for_options,
    asks_why,
    blank_questions,
    is_courtesy,
    is_phrase,
    is_question,
    skips_field,
)
from convengine.engine.forms.extract.only_part import refuses_value
from convengine.engine.forms.form import Field, Form, get_form, is_meaningful
from convengine.engine.forms.leaving import wants_next
from convengine.engine.forms.life import leave_old_form
from convengine.engine.forms.read_message import (
    AskedFields,
    describe_situation,
    extract_fields,
    extract_values,
    find_asked_fields,
    find_extractor,
    find_value,
    has_reading_prompt_elsewhere,
    list_refused,
    merge_values,
    note_fields_read,
    store_extraction,
)
from convengine.engine.forms.session_form import (
    FACT_FIELDS,
    clear_form_facts,
    decide_schema,
    find_known_schema,
    find_schema,
    get_usable_form,
    lock_intent,
    remember_schema,
    set_form_facts,
)
from convengine.engine.forms.settings import CLEAR_MCP_ON_FRESH_VALUES, EXTRACTOR
from convengine.engine.pending_actions.lifecycle import drop_record_of_other_scope
from convengine.engine.pipeline.step import Continue, Step
from convengine.engine.rules.apply import RULE_FIELDS, run_phase
from convengine.engine.steps.forms.ask_model import read_by_model
from convengine.engine.steps.forms.confirmation import react_to_no
from convengine.engine.steps.forms.stages import (
    AUTO_ADVANCE_FACTS,
    AUTO_ADVANCE_SKIPPED_NO_SCHEMA,
    SCHEMA_EXTRACTION_START,
    SCHEMA_STATUS,
)
from convengine.engine.text.compare import blank, code, shorten_line, truthy
from convengine.engine.turn.enums import RulePhase
from convengine.engine.turn.facts import collect_schema_values, collect_session_facts
from convengine.engine.turn.params import is_engine_owned
from convengine.engine.turn.rows import OutputSchema
from convengine.engine.turn.scope import INTENT_COLLISION
from convengine.engine.turn.session import RefusedValue, Session
from convengine.engine.turn.turn import Turn
from convengine.engine.values import Kind
from convengine.engine.values.language import get_language, list_languages
from convengine.engine.values.names import has_sentence_word, is_name_field
from convengine.engine.values.tokens import fold_text

Json = Any
#: Session fields that collecting may change.
COLLECT_FIELDS = FACT_FIELDS | {
    "context", "last_llm_output", "last_llm_stage", "fields_read", "reply_override", "state", "transitions",
    "digression", "clarification",
}  # fmt: skip
#: Longest text of a refused value in an event.
_REFUSED_CHARS = 200
#: Longest name beside a question, in words.
_MOST_NAME_WORDS = 4


class _MessageReading(NamedTuple):
    """The session after reading, the fields that were read, and the refused values by field."""

    session: Session
    fields: list[str]
    refused: dict[str, RefusedValue]


class SchemaExtractionStep(Step):
    """Read the message into the form; rules of phase POST_SCHEMA_EXTRACTION see the result."""

    after = ("AddContainerDataStep",)
    rank = 1700
    requires_persisted = True
    writes = COLLECT_FIELDS | RULE_FIELDS

    def execute(self, session: Session, turn: Turn) -> Continue:
        """Without a schema, release the intent; the schema that was worked on last may stay known."""
        session = leave_old_form(session, turn)
        row = decide_schema(session, turn)
        form = get_usable_form(session, turn, row)
        if row is None or form is None or find_schema(turn.snapshot, session.intent, session.state) is None:
            return Continue(self._check_changed_values(session, _read_known_form(session, turn), turn))
        given = session if _skips_extraction(session) else seed_from_params(session, form)
        if _skips_extraction(session) or (blank(session.user_text) and given is session):
            session = refresh_form(session, turn, row, form)
            # What a correction read may have completed the form.
            run = session.fields_read is not None or truthy(session.input_params.get("correction_applied"))
            return Continue(run_phase(RulePhase.POST_SCHEMA_EXTRACTION, self.name, session, turn) if run else session)
        turn.audit(session, SCHEMA_EXTRACTION_START, schemaId=row.schema_id)
        session = collect_values(given, turn, row, form)
        return Continue(run_phase(RulePhase.POST_SCHEMA_EXTRACTION, self.name, session, turn))

    def _check_changed_values(self, before: Session, session: Session, turn: Turn) -> Session:
        """Run the rules of the state that collects, if this message changed a value of the known form (R151).

        If one of them moves the dialogue, the open action ends, and a yes of this message runs nothing.
        """
        row = session.resolved_schema
        if row is None or not _changes_values(session, before):
            return session
        scope = session.intent, session.state
        session = run_phase(
            RulePhase.POST_SCHEMA_EXTRACTION, self.name, session, turn, rules_of_state=code(row.state_code)
        )
        if (session.intent, session.state) == scope:
            return session
        return drop_record_of_other_scope(session.with_params({"skip_pending_action_execution": True}), turn)


def _changes_values(session: Session, before: Session) -> bool:
    """Whether this turn changed a value of the form: in an earlier step, or since `before`."""
    read = session.fields_read.read if session.fields_read else ()
    is_earlier = before.fields_read is not None
    return any(is_earlier or find_value(session.context, path) != find_value(before.context, path) for path in read)


def _read_known_form(session: Session, turn: Turn) -> Session:
    """Read the message into the form of an earlier state of the intent (R117).

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
    skip = truthy(session.input_params.get("skip_schema_extraction")) or code(session.state) == INTENT_COLLISION
    return skip or session.reset_only or session.reply_override is not None


def refresh_form(session: Session, turn: Turn, row: OutputSchema, form: Form) -> Session:
    """The session with the facts of its form; the lock ends when the form is complete."""
    session = set_form_facts(session, row, form.status(session.context))
    if session.schema_complete:
        session = lock_intent(session, True)
    _audit_status(session, turn, row, skipped=True)
    return session


def seed_from_params(session: Session, form: Form) -> Session:
    """Fill empty fields from input params of the same name; otherwise the same session."""
    values = {
        field.path: session.input_params[field.path]
        for field in form.fields
        if not is_meaningful(session.context.get(field.path))
        and is_meaningful(session.input_params.get(field.path))
        and not is_engine_owned(field.path)
    }
    return session.with_context(values) if values else session


def collect_values(session: Session, turn: Turn, row: OutputSchema, form: Form, *, known: bool = False) -> Session:
    """Read the message into the form, evaluate and lock. `session` comes from `seeded`.

    `known`: the form is that of an earlier state, which no model reads.
    """
    before = session.context
    asked_fields = find_asked_fields(session, turn, row, form)
    if session.digression is not None:
        session = _settle_digression(session, turn, form, asked_fields)
        if session.digression is not None and not _answers_beside_question(session, form, asked_fields):
            asked_fields = AskedFields()
    session, fields, refused = _read_message(session, turn, row, form, asked_fields, known)
    if session.only_digresses:
        refused = {}
    asked_field = form.field(asked_fields.paths[0]) if asked_fields.is_question else None
    asks = asked_field is not None and (
        asks_for_options(session.user_text, asked_field)
        or asks_why(session.user_text, asked_field)
        or (not fields and wants_next(session, turn))
    )
    if asks:
        refused = {}
    session = note_fields_read(session, turn, fields, refused.values(), is_answer=not asks)
    if session.context != before and turn.config(session, CLEAR_MCP_ON_FRESH_VALUES):
        # The results of earlier tool calls no longer fit.
        session = session.without_context("mcp")
    reasons = {path: refusal.reason for path, refusal in refused.items()}
    session = set_form_facts(session, row, form.status(session.context), reasons)
    session = lock_intent(session, session.schema_complete)
    session = session.with_params(
        {
            "schema_extracted_fields": fields,
            "schema_json": collect_schema_values(session),
            "context": session.context,
            "session": collect_session_facts(session),
        }
    )
    _audit_status(session, turn, row)
    return session


def _answers_beside_question(session: Session, form: Form, asked_fields: AskedFields) -> bool:
    """True when the rest of the message may be the asked field's value: "4, and do you have helmets?".

    Of free text, a name that is written as one, and that there is none: "Thomas Berger, and where can I park?".
    """
    field = form.field(asked_fields.paths[0]) if asked_fields.is_question else None
    rest = blank_questions(session.user_text).strip(" ,.;:!–-")
    if field is None or not rest:
        return False
    if field.spec.kind is not Kind.TEXT or (not field.required and skips_field(session.user_text, field)):
        return True
    return _is_written_name(rest, field)


def _is_written_name(text: str, field: Field) -> bool:
    words, languages = text.split(), [get_language(code) for code in list_languages()]
    if not any(is_name_field(field.spec, language) for language in languages):
        return False
    is_name = 1 < len(words) <= _MOST_NAME_WORDS and all(
        word[0].isupper() and word.replace("-", "").replace("'", "").isalpha() for word in words
    )
    is_other = is_phrase(text, "greetings", "thanks", "leave") or is_courtesy(text)
    known = [language.list_table_words().issuperset(map(fold_text, words)) for language in languages]
    is_other = is_other or any(known)  # "Eine Frage, was kostet das?"
    return is_name and not is_other and not any(has_sentence_word(text, language) for language in languages)


def _settle_digression(session: Session, turn: Turn, form: Form, asked_fields: AskedFields) -> Session:
    """Decide whether the message is a question in between: not if it gives values and asks nothing (R112).

    What counts are labelled values and values with a type of their own; a bare text is no value here.
    """
    given = extract_fields(session, turn, form, AskedFields())
    if is_question(session):
        has_values = bool(given.extracted) or (session.digression is not None and session.digression.has_values)
        return session.evolve(digression=session.digression and replace(session.digression, has_values=has_values))
    asked_field = form.field(asked_fields.paths[0]) if asked_fields.is_question else None
    has_type = asked_field is not None and asked_field.spec.kind is not Kind.TEXT
    bare = extract_fields(session, turn, form, asked_fields) if has_type else given
    gives_value = given.extracted or given.rejected or bare.extracted
    return session.evolve(digression=None) if gives_value else session


def _read_message(
    session: Session, turn: Turn, row: OutputSchema, form: Form, asked_fields: AskedFields, known: bool
) -> _MessageReading:
    """Read the message with the engine, the model, or both in that order (R10)."""
    fields: list[str] = []
    refused: dict[str, RefusedValue] = {}
    if blank(session.user_text):
        return _MessageReading(session, fields, refused)
    if asked_fields.is_question and wants_next(session, turn) and _awaits_value(form, asked_fields):
        return _MessageReading(session, fields, refused)
    if skipped := _find_skipped_field(session, form, asked_fields, skips_field):
        # The null says that the question was answered.
        return _MessageReading(session.with_context({skipped: None}), [skipped], refused)
    extractor = "DETERMINISTIC" if known or session.digression else find_extractor(session, turn)
    if not (known or session.digression) and _has_nothing_to_ask(session, turn, form):
        return _MessageReading(session, fields, refused)
    if extractor != "LLM":
        extraction = extract_values(session, turn, form, asked_fields)
        session = store_extraction(session, extraction)
        fields = [finding.field for finding in extraction.extracted]
        refused = list_refused(session, extraction)
    if extractor == "LLM" or (extractor == "DETERMINISTIC_THEN_LLM" and not form.status(session.context).complete):
        session, answer = read_by_model(session, turn, row, form, settled=fields)
        session = session.evolve(context=merge_values(session.context, answer.values))
        fields += answer.fields
        refused = {path: refusal for path, refusal in refused.items() if path not in fields}
        text = shorten_line(session.user_text, _REFUSED_CHARS)
        refused |= {path: RefusedValue(path, text, reason) for path, reason in answer.invalid.items()}
    if not (fields or refused or session.digression or session.intent_source):
        situation = describe_situation(session, turn, form)
        refuses = partial(refuses_value, form=form, situation=situation)
        if skipped := _find_skipped_field(session, form, asked_fields, refuses):
            return _MessageReading(session.with_context({skipped: None}), [skipped], refused)
    return _MessageReading(session, fields, refused)


def _has_nothing_to_ask(session: Session, turn: Turn, form: Form) -> bool:
    """True for a complete form that a model reads in other states of the intent (R121)."""
    if not turn.ports.model.configured or (turn.config(session, EXTRACTOR) or "LLM") != "LLM":
        return False
    if not form.schema.get("required") or not form.status(session.context).complete:
        return False
    return has_reading_prompt_elsewhere(session, turn)


def _awaits_value(form: Form, asked_fields: AskedFields) -> bool:
    """True when a required field is asked for: a note may well say "another chair"."""
    return any((field := form.field(path)) and field.required for path in asked_fields.paths)


def _find_skipped_field(
    session: Session, form: Form, asked_fields: AskedFields, skips: Callable[[str | None, Field], bool]
) -> str | None:
    """The optional field that the user does not want to fill, by what `skips` reads: "skip", "none", "no e-mail"."""
    if not asked_fields.is_question:
        return None
    fields = (form.field(path) for path in asked_fields.paths)
    skipped = [field.path for field in fields if field and skips(session.user_text, field)]
    unanswered = form.status(session.context).unanswered if skipped else ()
    return next((path for path in skipped if path in unanswered), None)


def _audit_status(session: Session, turn: Turn, row: OutputSchema, **details: Json) -> None:
    turn.audit(
        session,
        SCHEMA_STATUS,
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
        schemaJson=collect_schema_values(session),
        **details,
    )


class AutoAdvanceStep(Step):
    """Publish the facts for rules. This step never changes intent or state."""

    after = ("SchemaExtractionStep",)
    rank = 1800
    requires_persisted = True
    writes = FACT_FIELDS

    def execute(self, session: Session, turn: Turn) -> Continue:
        """Evaluate the form again if rules or tasks changed the context, and update the lock."""
        row = session.resolved_schema
        if row is None:
            turn.audit(session, AUTO_ADVANCE_SKIPPED_NO_SCHEMA, reason="NO_RESOLVED_SCHEMA")
            return Continue(session)
        status = get_form(turn.snapshot, row).status(session.context)
        known = (session.schema_complete, session.schema_has_any_value, session.missing_required_fields)
        if known != (status.complete, status.has_any_value, status.missing):
            turned = status.complete != session.schema_complete
            session = set_form_facts(session, row, status)
            if turned and find_known_schema(session, turn) is not row:
                session = lock_intent(session, status.complete)
        turn.audit(
            session,
            AUTO_ADVANCE_FACTS,
            schemaComplete=session.schema_complete,
            hasAnySchemaValue=session.schema_has_any_value,
            intent=session.intent,
            state=session.state,
        )
        return Continue(session)
