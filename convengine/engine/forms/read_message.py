"""Reading a message into a form without a model, for the steps that collect values and correct them (R109).

`engine.forms.extract` reads the text; here are the asked field, the situation and the events.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from convengine.engine.forms.asking import (
    asks_why,
    blank_questions,
    find_form_locale,
    find_open_fields,
    find_questions,
    is_phrase,
    is_small_talk,
)
from convengine.engine.forms.extract import Extracted, Extraction, Rejected, extract
from convengine.engine.forms.extract.day_order import find_earlier_days, is_day_field
from convengine.engine.forms.extract.only_part import read_only_part
from convengine.engine.forms.extract.reading import Reading
from convengine.engine.forms.extract.sentence_values import read_name_alone
from convengine.engine.forms.form import Form, is_meaningful
from convengine.engine.forms.former_values import find_former_values
from convengine.engine.forms.session_form import find_known_schema, find_schema
from convengine.engine.forms.settings import BARE_ANSWER, EXTRACTOR
from convengine.engine.forms.stages import FIELDS_READ, SCHEMA_EXTRACTION_DETERMINISTIC
from convengine.engine.phrases.form_words import get_form_words
from convengine.engine.phrases.matching import get_phrase_index
from convengine.engine.phrases.words import detect_languages, read_telling_words
from convengine.engine.prompts.select import choose_template
from convengine.engine.text.compare import code, shorten_line
from convengine.engine.turn.dialogue_state import DialogueState, update_dialogue
from convengine.engine.turn.enums import DialogueAct, PromptUse
from convengine.engine.turn.local_time import LOCALE, TIME_ZONE
from convengine.engine.turn.rows import Classifier, OutputSchema, PromptTemplate
from convengine.engine.turn.scope import INTENT_COLLISION
from convengine.engine.turn.session import FieldsRead, RefusedValue, Session
from convengine.engine.turn.turn import Turn
from convengine.engine.values import Kind, ReadingSituation, blank_denials, denies, has_number
from convengine.engine.values.language import get_language
from convengine.engine.values.names import is_name_field
from convengine.engine.values.reading import Reason

Json = Any
_SLOTS = ("pending_slot", "pendingSlot")
#: Longest text of a refused value in an event.
_REFUSED_CHARS = 200


class AskedFields(NamedTuple):
    """The fields that the last answer asked for."""

    paths: tuple[str, ...] = ()
    #: It asked for exactly this one, so that a bare answer is meant for it (R109).
    is_question: bool = False


def find_asked_fields(session: Session, turn: Turn, row: OutputSchema, form: Form) -> AskedFields:
    """The pending slot, else the asked field, else the fields missing at the start of the turn."""
    for key in _SLOTS:
        slot = session.context.get(key)
        if isinstance(slot, str) and form.field(slot):
            return AskedFields((slot,), is_question=turn.config(session, BARE_ANSWER) == "ASKED")
    before = find_schema(turn.snapshot, session.turn_start_intent, session.turn_start_state)
    if before is not row and find_known_schema(session, turn) is not row:
        return AskedFields()
    asked_field = DialogueState.of(session).asked_field
    if asked_field and form.field(asked_field) and turn.config(session, BARE_ANSWER) == "ASKED":
        return AskedFields((asked_field,), is_question=True)
    return AskedFields(form.status(session.context).missing)


def find_extractor(session: Session, turn: Turn) -> str:
    """Who reads; only the engine if there is no model, or no prompt that tells it how to read here."""
    if not turn.ports.model.configured:
        return "DETERMINISTIC"
    wanted = turn.config(session, EXTRACTOR) or "LLM"
    return wanted if has_reading_prompt(session, turn) else "DETERMINISTIC"


def has_reading_prompt(session: Session, turn: Turn) -> bool:
    """True when a prompt template tells a model how to read the fields in this intent and state."""
    return choose_template(turn.snapshot, PromptUse.SCHEMA_JSON, session.intent, session.state).winner is not None


def has_reading_prompt_elsewhere(session: Session, turn: Turn) -> bool:
    """True when another state of the intent has such a template, and this one has none."""
    return not has_reading_prompt(session, turn) and any(
        code(template.response_type) == PromptUse.SCHEMA_JSON and code(template.intent_code) == code(session.intent)
        for template in turn.snapshot.enabled_rows(PromptTemplate)
    )


def describe_situation(session: Session, turn: Turn, form: Form) -> ReadingSituation:
    """How values are read: the turn's time, the conversation's zone and languages, the options that were listed."""
    state, held = DialogueState.of(session), _find_held_days(session, form)
    return ReadingSituation(
        turn.ports.clock.now(),
        turn.config(session, TIME_ZONE),
        find_form_locale(session, turn, form),
        turn.config(session, LOCALE),
        state.listed_options if state.asked_field else (),
        known_part=state.known_part if state.asked_field else "",
        held_days=held,
        earlier_days=find_earlier_days(form, held),
        former_values=find_former_values(session, turn, form),
        subject_terms=words.terms
        if (words := get_form_words(turn.snapshot).get(code(session.intent)))
        else frozenset(),
    )


def _find_held_days(session: Session, form: Form) -> dict[str, str]:
    """The days that the date fields of the form hold, by path."""
    days = ((field.path, find_value(session.context, field.path)) for field in form.leaves if is_day_field(field))
    return {path: value[:10] for path, value in days if isinstance(value, str)}


def extract_fields(session: Session, turn: Turn, form: Form, asked_fields: AskedFields) -> Extraction:
    """Read with the engine's own reader. Beside a question in between, the rest of the message is read (R112)."""
    text = (blank_questions(session.user_text) if session.digression else session.user_text) or ""
    missing = [field.path for field in form.leaves if not is_meaningful(find_value(session.context, field.path))]
    situation = describe_situation(session, turn, form)
    if len(missing) == len(form.leaves) and not asked_fields.is_question:
        phrases = _list_phrases(session, turn)
        text = blank_denials(text, phrases, situation)
        earlier = blank_denials(_find_ambiguous_message(session), phrases, situation)
        earlier_extraction = extract(form, earlier, missing=missing, situation=situation)
    else:
        earlier_extraction = Extraction()
    extraction = extract(form, text, asked_paths=asked_fields.paths, missing=missing, situation=situation)
    if session.digression is None and asked_fields.is_question:
        extraction = _add_answer_beside_question(form, text, extraction, asked_fields, missing, situation)
        extraction = _add_name_beside_question(session, turn, form, extraction, asked_fields, situation)
    return _add_earlier_values(extraction, earlier_extraction)


def _add_name_beside_question(
    session: Session,
    turn: Turn,
    form: Form,
    extraction: Extraction,
    asked_fields: AskedFields,
    situation: ReadingSituation,
) -> Extraction:
    """The extraction, and if it has nothing, a name that is the whole message: "Kevin Maurer" at a yes or no.

    It is for the only open text that must be filled and takes a name. No word of it is one of a phrase, a title or an
    option.
    """
    asked_field, text = form.field(asked_fields.paths[0]), session.user_text or ""
    is_read = extraction.extracted or any(item.reason != Reason.NOT_AN_OPTION for item in extraction.rejected)
    if is_read or asked_field is None or asked_field.spec.kind is Kind.TEXT:
        return extraction
    texts = [field for field in find_open_fields(form, session.context) if field.spec.kind is Kind.TEXT]
    fields = [field for field in texts if field.required]
    if len(fields) != 1 or not is_name_field(fields[0].spec, get_language(situation.locale)):
        return extraction
    if is_phrase(text, "greetings", "thanks", "leave") or denies(text, situation):
        return extraction
    reading = Reading(text)
    name = read_name_alone(reading, fields[0], situation)
    if name is None or get_phrase_index(turn.snapshot).match(text) or _names_own_words(session, turn, text):
        return extraction
    return Extraction((Extracted(name.field.path, name.value, reading.span(name.start, name.end), name.by),))


def _names_own_words(session: Session, turn: Turn, text: str) -> bool:
    """True when a word is one of a title or an option of the form."""
    words = get_form_words(turn.snapshot).get(code(session.intent))
    return words is not None and any(
        words.has(word) for language in detect_languages(text) for word in read_telling_words(text, language)
    )


def _add_answer_beside_question(
    form: Form,
    text: str,
    extraction: Extraction,
    asked_fields: AskedFields,
    missing: Sequence[str],
    situation: ReadingSituation,
) -> Extraction:
    """The extraction, and if it has nothing for the asked field, that of the statement beside a question: "two. can I
    pay by card?". A question with a value may change the statement: "two, or is three better?".
    """
    field, question = form.field(asked_fields.paths[0]), find_questions(text)
    touched = {item.field for item in extraction.extracted} | {item.field for item in extraction.rejected}
    statement = blank_questions(text)
    if field is None or field.path in touched or not (question and statement.strip()):
        return extraction
    if field.spec.kind is Kind.TEXT and not asks_why(question, field):
        return extraction
    paths = asked_fields.paths
    others = extract(form, question, asked_paths=paths, missing=missing, situation=situation)
    if others.extracted or others.rejected or has_number(question, situation):
        return extraction
    beside = extract(form, statement, asked_paths=paths, missing=missing, situation=situation)
    return beside if any(item.field == field.path for item in beside.extracted) else extraction


def _find_ambiguous_message(session: Session) -> str:
    """The message before the question which intent is meant, if this one has answered it; else blank."""
    was_asked = code(session.turn_start_state) == INTENT_COLLISION and bool(session.history)
    return session.history[-1].user if was_asked else ""


def _add_earlier_values(extraction: Extraction, earlier: Extraction) -> Extraction:
    """The extraction with the values of an earlier message for the fields that this one says nothing about."""
    known = {item.field for item in extraction.extracted} | {item.field for item in extraction.rejected}
    added = [replace(finding, span=(0, 0)) for finding in earlier.extracted if finding.field not in known]
    return replace(extraction, extracted=(*extraction.extracted, *added))


def _list_phrases(session: Session, turn: Turn) -> list[str]:
    """The phrases of the intent: what they deny is what the form is for, "we can't come tomorrow"."""
    listed = turn.snapshot.enabled_rows(Classifier)
    return [row.pattern or "" for row in listed if row.is_phrase and code(row.intent_code) == code(session.intent)]


def extract_values(session: Session, turn: Turn, form: Form, asked_fields: AskedFields) -> Extraction:
    """Read with the engine's own reader and write the event."""
    extraction = extract_fields(session, turn, form, asked_fields)
    asked_field = form.field(asked_fields.paths[0]) if asked_fields.is_question else None
    if asked_field and extraction == Extraction() and not (session.digression or session.intent_source):
        extraction = read_only_part(form, asked_field, session.user_text or "", describe_situation(session, turn, form))
    if extraction.rejected and session.input_params.get("dialogue_act") == DialogueAct.EDIT:
        # A correction applies completely or not at all, even where words are read twice (pipeline-1 10.4 (6)).
        extraction = Extraction(rejected=extraction.rejected)
    turn.audit(
        session,
        SCHEMA_EXTRACTION_DETERMINISTIC,
        extracted=[
            {"field": finding.field, "value": finding.value, "span": list(finding.span), "by": finding.by}
            for finding in extraction.extracted
        ],
        rejected=[
            {"field": finding.field, "value": finding.value, "reason": finding.reason}
            for finding in extraction.rejected
        ],
    )
    return extraction


def store_extraction(session: Session, extraction: Extraction) -> Session:
    """The session with the extracted values in its context."""
    for finding in extraction.extracted:
        session = session.evolve(context=merge_values(session.context, _nest_value(finding.field, finding.value)))
    return session


def list_refused(session: Session, extraction: Extraction) -> dict[str, RefusedValue]:
    """The refused values of an extraction, by field."""
    return {finding.field: _refuse(session, finding) for finding in extraction.rejected}


def _refuse(session: Session, finding: Rejected) -> RefusedValue:
    text = finding.value if isinstance(finding.value, str) else session.user_text
    return RefusedValue(finding.field, shorten_line(text, _REFUSED_CHARS), finding.reason, finding.data)


def note_fields_read(
    session: Session, turn: Turn, read: Sequence[str], refused: Iterable[RefusedValue], *, is_answer: bool = True
) -> Session:
    """The session with what was read, and with the misses of the asked field; writes FIELDS_READ.

    `is_answer`: false for a message that only asks for the options.
    """
    state = DialogueState.of(session)
    reading = FieldsRead(tuple(read), tuple(refused), state.asked_field)
    turn.audit(
        session,
        FIELDS_READ,
        read=list(read),
        refused=[
            {"field": refusal.field, "text": refusal.text, "reason": refusal.reason} for refusal in reading.refused
        ],
        asked=state.asked_field,
    )
    session = session.evolve(fields_read=reading)
    if state.asked_field is None or session.only_digresses or not is_answer:
        return session
    if reading.find_refusal(state.asked_field):
        return update_dialogue(session, misses=state.misses + 1)
    if read:
        # What gives another field is understood.
        return update_dialogue(session, misses=0)
    is_miss = not (reading.refused or is_small_talk(session))
    return update_dialogue(session, misses=state.misses + 1) if is_miss else session


def merge_values(context: Mapping[str, Json], values: Mapping[str, Json]) -> dict[str, Json]:
    """The context with values merged in: objects key by key, others replaced; an empty value replaces nothing."""
    result = dict(context)
    for key, value in values.items():
        if not is_meaningful(value):
            continue
        held = result.get(key)
        inner = isinstance(value, Mapping) and isinstance(held, Mapping)
        result[key] = merge_values(held, value) if inner and isinstance(held, Mapping) else value
    return result


def _nest_value(path: str, value: Json) -> dict[str, Json]:
    first, _, rest = path.partition(".")
    return {first: _nest_value(rest, value) if rest else value}


def find_value(context: Mapping[str, Json], path: str) -> Json:
    value: Json = context
    for part in path.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value
