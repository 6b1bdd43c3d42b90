"""What of a message goes into a form is stored, with its events (docs/forms.md)."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any, TypeVar

from convengine.engine.forms.dependent_fields import settle_dependents
from convengine.engine.forms.form import Form, is_meaningful
from convengine.engine.forms.life import find_most_misses, read_on_no
from convengine.engine.forms.message import MOST_CHARACTERS, find_asked_path, read_held_again, understand_message
from convengine.engine.forms.session_form import find_value, get_current_form, list_held
from convengine.engine.forms.settings import CLEAR_MCP_ON_FRESH_VALUES, EXTRACTOR
from convengine.engine.forms.stages import FIELDS_READ, SCHEMA_EXTRACTION_DETERMINISTIC
from convengine.engine.forms.user_answer import leaves_question_open, says, says_only
from convengine.engine.prompts.select import choose_template
from convengine.engine.rules.actions.contract import clear_at_path
from convengine.engine.text.compare import code, shorten_line
from convengine.engine.turn.dialogue_state import DialogueState, update_dialogue
from convengine.engine.turn.enums import DialogueAct, PromptUse
from convengine.engine.turn.rows import OutputSchema, PromptTemplate
from convengine.engine.turn.session import FieldsRead, RefusedValue, Session
from convengine.engine.turn.turn import Turn
from convengine.engine.understanding.decide import EARLIER, OFFER
from convengine.engine.understanding.field import Kind
from convengine.engine.understanding.long_texts import is_long_text
from convengine.engine.understanding.moves import MoveKind
from convengine.engine.understanding.reading import Doubt, Offered, Reading, RefusedText, Taken
from convengine.engine.understanding.span import RefusalReason
from convengine.json_value import Json

_Item = TypeVar("_Item", Taken, Offered, RefusedText)
#: Kinds whose values are recognised by their form alone.
_EXPLICIT = (Kind.DATE, Kind.DATE_TIME, Kind.TIME, Kind.EMAIL, Kind.PHONE, Kind.IBAN)
#: Longest text of a refused value in an event.
REFUSED_CHARS = 200
#: Such messages are no answers, so they are no misses.
_SMALL_TALK = (MoveKind.GREET, MoveKind.THANK)


#: The tables read, and a model is asked for the words that they leave open.
TABLES_THEN_WORDS = "TABLES_THEN_WORDS"


def find_extractor(session: Session, turn: Turn) -> str:
    """Who reads: only the tables without a model, and the tables first without a prompt that tells how to read here."""
    if not turn.ports.model.configured:
        return "DETERMINISTIC"
    wanted = turn.config(session, EXTRACTOR)
    if has_reading_prompt(session, turn):
        return wanted or "LLM"
    return TABLES_THEN_WORDS if wanted in (None, "DETERMINISTIC_THEN_LLM") else "DETERMINISTIC"


def has_reading_prompt(session: Session, turn: Turn) -> bool:
    """True when a prompt template tells a model how to read the fields in this intent and state."""
    return choose_template(turn.snapshot, PromptUse.SCHEMA_JSON, session.intent, session.state).winner is not None


def has_reading_prompt_elsewhere(session: Session, turn: Turn) -> bool:
    """True when another state of the intent has such a template, and this one has none."""
    return not has_reading_prompt(session, turn) and any(
        code(template.response_type) == PromptUse.SCHEMA_JSON and code(template.intent_code) == code(session.intent)
        for template in turn.snapshot.enabled_rows(PromptTemplate)
    )


def check_reading(session: Session, turn: Turn, row: OutputSchema, form: Form, reading: Reading) -> Reading:
    """What of a reading goes into the form, checked against the whole form and what was offered before."""
    asked_path = find_asked_path(session, turn, row, form)
    reading = take_long_text(session, form, asked_path, check_order(session, form, reading))
    held, offered_before = list_held(session, form), DialogueState.of(session).offered
    # What the form holds already is no change.
    reading = replace(reading, taken=tuple(item for item in reading.taken if held.get(item.field) != item.value))
    reading = drop_accidents(session, turn, form, asked_path, reading)
    reading = _skip_asked_field(session, turn, row, form, asked_path, reading)
    reading = settle_dependents(session, turn, row, form, asked_path, reading)
    reading = replace(reading, named=tuple(_list_changing(session, turn, form, reading)))
    if not (reading.gives_anything or reading.refused or reading.offered or reading.named):
        reading = replace(reading, offered=_list_changes(session, turn, row, form))
    # What was offered and not taken is asked for again, not offered twice.
    reading = replace(reading, offered=tuple(item for item in reading.offered if item.field not in offered_before))
    if session.dialogue.dialogue_act != DialogueAct.EDIT or not (reading.refused or reading.named):
        return reading
    # An edit applies completely or not at all.
    text = session.user_text or ""
    unread = [RefusedText(path, text, RefusalReason.VALUE_VIOLATES_SCHEMA) for path in reading.named]
    return Reading(refused=(*reading.refused, *unread), names=reading.names)


def _skip_asked_field(
    session: Session, turn: Turn, row: OutputSchema, form: Form, asked_path: str, reading: Reading
) -> Reading:
    """The reading in which "none" leaves the asked field out, where it is optional: it is no 0.

    So does the last of too many answers that are not understood: nobody loses a form because of it.
    """
    field, state = form.field(asked_path), DialogueState.of(session)
    says_nothing = not (reading.gives_anything or reading.refused or reading.offered or reading.wishes)
    is_miss = says_nothing and not says_only(session, turn, *_SMALL_TALK, MoveKind.WAIT)
    is_last = is_miss and not leaves_question_open(session, turn, row)
    is_last = is_last and state.misses + 1 >= find_most_misses(session, turn, row)
    if field is None or field.required or not (is_last or says_only(session, turn, MoveKind.SKIP)):
        return reading
    taken = tuple(item for item in reading.taken if item.field != asked_path)
    return replace(reading, taken=taken, cleared=tuple(dict.fromkeys((*reading.cleared, asked_path))))


def _list_changing(session: Session, turn: Turn, form: Form, reading: Reading) -> Iterator[str]:
    """The fields that are named and to be emptied: not that of "the same time"."""
    understanding = understand_message(session, turn, form)
    words = {word.start: at for at, word in enumerate(understanding.words)}
    starts = {path: words.get(start, 0) for path, start, _ in reading.names}
    for path in reading.named:
        at = starts.get(path, 0)
        matches = (understanding.chart.match_exactly("unchanged", first) for first in range(max(0, at - 2), at))
        if not any(match is not None and match.end == at for match in matches):
            yield path


def _list_changes(session: Session, turn: Turn, row: OutputSchema, form: Form) -> tuple[Offered, ...]:
    """Other values for what the form holds, in a message that gives nothing else: they are offered as a change."""
    held = list_held(session, form)
    kinds = {field.path: field.spec.kind for field in form.leaves}
    changed = [item for item in read_held_again(session, turn, row).taken if item.value != held[item.field]]
    plain = (item for item in changed if kinds[item.field] in _EXPLICIT)
    return tuple(Offered(item.field, item.value, item.start, item.end, Doubt.UNCLEAR) for item in plain)


def add_earlier(reading: Reading, earlier: Reading) -> Reading:
    """The reading, with what an earlier message gives besides: of a field, the later message counts.

    Its values have no position in the message of the turn.
    """
    later_fields = {*reading.fields, *reading.named}
    taken = tuple(replace(item, by=EARLIER) for item in _list_besides(earlier.taken, later_fields))
    return replace(
        reading,
        taken=(*taken, *reading.taken),
        offered=(*_list_besides(earlier.offered, later_fields), *reading.offered),
        refused=(*_list_besides(earlier.refused, later_fields), *reading.refused),
        wishes=(*earlier.wishes, *reading.wishes),
    )


def _list_besides(items: Iterable[_Item], later_fields: Collection[str]) -> tuple[_Item, ...]:
    return tuple(replace(item, start=0, end=0) for item in items if item.field not in later_fields)


def keep_offers_open(session: Session, turn: Turn, row: OutputSchema, reading: Reading) -> Session:
    """The session with the offers that the message leaves unanswered, as it goes on with another field.

    Only where the whole form is confirmed at the end.
    """
    state = DialogueState.of(session)
    if read_on_no(row) is None or not (state.offered or state.open_offers):
        return session
    given = {*reading.fields, *reading.named, *(refusal.field for refusal in reading.refused)}
    objects = says(session, turn, MoveKind.NEGATE, MoveKind.CORRECT, MoveKind.WAIT)
    goes_on = bool(reading.taken) and given.isdisjoint(state.offered) and not objects
    offers = {**state.open_offers, **(state.offered if goes_on else {})}
    return update_dialogue(session, open_offers={path: offers[path] for path in offers if path not in given})


def take_open_offers(session: Session, form: Form, reading: Reading) -> Reading:
    """The reading with the offers that were left open, once nothing else is missing: the summary will name them."""
    missing = form.status(store_reading(session, form, reading).context).missing
    offers = DialogueState.of(session).open_offers
    if not missing or not offers.keys() >= set(missing):
        return reading
    return replace(
        reading,
        taken=(*reading.taken, *(Taken(path, offers[path], 0, 0, OFFER, is_echoed=True) for path in missing)),
    )


def audit_reading(session: Session, turn: Turn, reading: Reading) -> None:
    """Write what was read, and where it stands."""
    turn.audit(
        session,
        SCHEMA_EXTRACTION_DETERMINISTIC,
        extracted=[
            {"field": item.field, "value": item.value, "span": [item.start, item.end], "by": item.by}
            for item in reading.taken
        ],
        rejected=[{"field": item.field, "value": item.text, "reason": item.reason} for item in reading.refused],
    )


def check_order(session: Session, form: Form, reading: Reading) -> Reading:
    """The reading, without dates before the one that they must follow (`x-after`), and without values that break
    their own schema.
    """
    days = {item.field: item.value for item in reading.taken}
    refused = list(reading.refused)
    taken: list[Taken] = []
    for item in reading.taken:
        field = form.field(item.field)
        after = field.declared.get("x-after") if field else None
        start = days.get(after, find_value(session.context, after)) if isinstance(after, str) else None
        text = (session.user_text or "")[item.start : item.end]
        if isinstance(start, str) and isinstance(item.value, str) and item.value[:10] < start[:10]:
            data = {"min": start[:10]}
            refused.append(RefusedText(item.field, text, RefusalReason.OUT_OF_BOUNDS, data, item.start, item.end))
        elif field is not None and form.breaks(field, item.value):
            refused.append(RefusedText(item.field, text, RefusalReason.VALUE_VIOLATES_SCHEMA, {}, item.start, item.end))
        else:
            taken.append(item)
    return replace(reading, taken=tuple(taken), refused=tuple(refused))


def drop_accidents(session: Session, turn: Turn, form: Form, asked_path: str, reading: Reading) -> Reading:
    """The reading without values that nobody means: a code that is put together from words written apart, where nobody
    asked for it or names it; and in a text that was told, what would replace a held value without a word of correction.
    """
    text, asked_field = session.user_text or "", form.field(asked_path)
    is_told = bool(asked_field and asked_path in reading.fields and is_long_text(asked_field.spec, turn.ports.learned))
    held, named = list_held(session, form) if is_told else {}, {path for path, _, _ in reading.names}

    def is_meant(item: Taken | Offered) -> bool:
        field = form.field(item.field)
        is_code = field is not None and field.spec.kind is Kind.PATTERN and " " not in str(item.value)
        return item.field in (asked_path, *named) or not (is_code and " " in text[item.start : item.end].strip())

    understanding = understand_message(session, turn, form)
    corrected = [clause for clause in understanding.clauses if held and clause.has("correction")]
    positions = [range(*understanding.find_position(clause.start, clause.end)) for clause in corrected]

    def replaces(item: Taken | Offered) -> bool:
        return item.field != asked_path and item.field in held and not any(item.start in part for part in positions)

    taken = tuple(item for item in filter(is_meant, reading.taken) if not replaces(item))
    offered = tuple(item for item in filter(is_meant, reading.offered) if item.field not in held)
    return replace(reading, taken=taken, offered=offered)


def take_long_text(session: Session, form: Form, asked_path: str, reading: Reading) -> Reading:
    """The reading of a message that is longer than readers see: it is the text of an asked text field, or nothing."""
    text, field = session.user_text or "", form.field(asked_path)
    if len(text) <= MOST_CHARACTERS or field is None:
        return reading
    taken = [replace(item, value=text.strip(), end=len(text)) for item in reading.taken if item.field == asked_path]
    return Reading(taken=tuple(item for item in taken if not form.breaks(field, item.value)))


def store_reading(session: Session, form: Form, reading: Reading) -> Session:
    """The session whose context has the values. What is cleared is null where it may be, else it is asked again."""
    for item in reading.taken:
        session = session.evolve(context=merge_values(session.context, nest_value(item.field, item.value)))
    # Inside an object a null is no answer: the object's own schema would refuse it.
    empty = [
        path for path in reading.cleared if "." not in path and not ((field := form.field(path)) and field.required)
    ]
    session = drop_values(session, [path for path in (*reading.cleared, *reading.named) if path not in empty])
    return session.with_context(dict.fromkeys(empty)) if empty else session


def drop_values(session: Session, paths: Iterable[str]) -> Session:
    """The session without the values at these dotted paths of its context."""
    return session.evolve(context=reduce(clear_at_path, paths, session.context))


def drop_stale_results(session: Session, turn: Turn) -> Session:
    """The session without the results of earlier tool calls, which no longer fit the changed values."""
    return session.without_context("mcp") if turn.config(session, CLEAR_MCP_ON_FRESH_VALUES) else session


def list_refused(reading: Reading) -> list[RefusedValue]:
    return [
        RefusedValue(item.field, shorten_line(item.text, REFUSED_CHARS), item.reason, item.data)
        for item in reading.refused
    ]


def list_read(form: Form, reading: Reading) -> list[str]:
    """The fields that the message answered: with a value, or with nothing where they may be empty."""
    empty = [path for path in reading.cleared if not ((field := form.field(path)) and field.required)]
    return [*(item.field for item in reading.taken), *empty]


def note_fields_read(
    session: Session,
    turn: Turn,
    row: OutputSchema,
    read: Sequence[str],
    refused: Iterable[RefusedValue],
    reading: Reading | None = None,
    *,
    is_answer: bool = True,
) -> Session:
    """The session with what was read, and with the misses of the asked field; writes FIELDS_READ.

    `is_answer`: false for a message that asks about the field.
    """
    state, reading = DialogueState.of(session), reading or Reading()
    offered = {item.field: item.value for item in reading.offered}
    echoed = tuple(item.field for item in reading.taken if item.is_echoed)
    wants_person = MoveKind.PERSON in reading.wishes
    noted = FieldsRead(tuple(read), tuple(refused), state.asked_field, offered, echoed, wants_person=wants_person)
    noted = replace(noted, said_again=_list_said_again(session, turn, row, noted, reading))
    said_again: dict[str, Any] = {"said_again": list(noted.said_again)} if noted.said_again else {}
    turn.audit(
        session,
        FIELDS_READ,
        read=list(read),
        refused=[{"field": refusal.field, "text": refusal.text, "reason": refusal.reason} for refusal in noted.refused],
        asked=state.asked_field,
        offered=offered,
        by={item.field: item.by for item in reading.taken},
        unexplained=[list(position) for position in reading.unexplained],
        schemaId=row.schema_id,
        positions=list(_list_positions(reading)),
        **said_again,
    )
    session = session.evolve(fields_read=noted)
    is_uncounted = offered or reading.wishes or noted.said_again or not is_answer
    return session if is_uncounted else _count_miss(session, turn, noted)


def _list_said_again(
    session: Session, turn: Turn, row: OutputSchema, noted: FieldsRead, reading: Reading
) -> tuple[str, ...]:
    """The fields whose held value is all that the message says."""
    if noted.read or noted.refused or noted.offered or reading.cleared or reading.named:
        return ()
    held = list_held(session, get_current_form(session, turn, row))
    again = read_held_again(session, turn, row).taken
    return tuple(item.field for item in again if item.value == held[item.field])


def _count_miss(session: Session, turn: Turn, noted: FieldsRead) -> Session:
    """The session with the number of messages in a row that did not answer the question for the asked field."""
    state = DialogueState.of(session)
    if state.asked_field is None or session.only_digresses:
        return session
    if noted.read:
        # The bot understood a user who gave a value, even if it refused another one.
        return update_dialogue(session, misses=0)
    if noted.find_refusal(state.asked_field):
        return update_dialogue(session, misses=state.misses + 1)
    is_miss = not (noted.refused or says_only(session, turn, *_SMALL_TALK, MoveKind.WAIT))
    return update_dialogue(session, misses=state.misses + 1) if is_miss else session


def _list_positions(reading: Reading) -> Iterator[dict[str, Json]]:
    """Where the message gives or names a field, and why: positions, so that there are no words to mask."""
    for taken in reading.taken:
        yield _describe_position("TAKEN", taken, why=taken.by, assumed=list(taken.assumed))
    for offered in reading.offered:
        yield _describe_position("OFFERED", offered, why=offered.why)
    for refused in reading.refused:
        yield _describe_position("REFUSED", refused, why=refused.reason)
    for path, start, end in reading.names:
        yield {"is": "NAMED", "field": path, "start": start, "end": end}


def _describe_position(outcome: str, item: Taken | Offered | RefusedText, **details: Json) -> dict[str, Json]:
    return {"is": outcome, "field": item.field, "start": item.start, "end": item.end, **details}


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


def nest_value(path: str, value: Json) -> dict[str, Json]:
    """The value inside the objects of its path: `{"address": {"city": …}}` for `address.city`."""
    first, _, rest = path.partition(".")
    return {first: nest_value(rest, value) if rest else value}
