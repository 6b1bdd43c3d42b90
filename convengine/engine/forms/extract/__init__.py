"""Read the fields of a form out of a message without a model, deterministically. Better no value than a wrong one.

docs/extraction.md lists what it can and cannot read.
"""

import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as dataclass_field
from datetime import date, timedelta
from typing import Any

from convengine.engine.forms.asking import sort_fields
from convengine.engine.forms.convert import VALUE_VIOLATES_SCHEMA
from convengine.engine.forms.extract import unlabelled
from convengine.engine.forms.extract.answer import has_whole_pattern, read_answer, read_count
from convengine.engine.forms.extract.candidate import ANSWER, FORMAT, LABEL, Candidate
from convengine.engine.forms.extract.day_order import drop_other_events, order_days, read_other_year
from convengine.engine.forms.extract.directions import read_by_direction
from convengine.engine.forms.extract.labels import find_mentions, read_by_label
from convengine.engine.forms.extract.negated_or_hypothetical import is_negated_or_hypothetical
from convengine.engine.forms.extract.place_names import (
    asks_for_place,
    asks_for_text,
    drop_places,
    read_listed_street,
    read_street_pair,
)
from convengine.engine.forms.extract.reading import Reading
from convengine.engine.forms.extract.resolve import AMBIGUOUS, resolve_candidates
from convengine.engine.forms.extract.same_values import add_former_time, read_same_values
from convengine.engine.forms.extract.sentence_values import (
    keep_filled_fields,
    merge_sentence_values,
    read_beside_values,
    read_introduced_names,
    read_listed_name,
    read_sentence_values,
)
from convengine.engine.forms.extract.typed_values import is_numeric
from convengine.engine.forms.form import Field, Form
from convengine.engine.text.compare import blank
from convengine.engine.text.dates import DATE_AMBIGUOUS
from convengine.engine.values import Kind, ReadingSituation, Reason, blank_unmeant_options, has_number, read_value
from convengine.engine.values.corrections import find_contrasts, find_retraction
from convengine.engine.values.date_parts import move_to_named_month, replace_date_part
from convengine.engine.values.find import find_day_beside, find_replacing_numbers
from convengine.engine.values.language import get_language
from convengine.engine.values.lone_numbers import is_hedged_number
from convengine.engine.values.names import is_name_field, is_named_like_day
from convengine.engine.values.read import list_situations
from convengine.engine.values.reading import NOTHING
from convengine.engine.values.retractions import blank_taken_back
from convengine.engine.values.tokens import MOST_READ

Json = Any
_UNREADABLE = frozenset({"array", "object"})
_DAYS = (Kind.DATE, Kind.DATE_TIME)
#: The days of a month.
_MOST_DAYS = 31
#: The end of a clause.
_CLAUSE_END = re.compile(r"[,;!?–]|\.(?=\s+\D)")
_CALENDAR = (*_DAYS, Kind.TIME, Kind.DURATION)


@dataclass(frozen=True)
class Extracted:
    """A value, its position in the message, and how it was recognised."""

    field: str
    value: Json
    span: tuple[int, int]
    by: str


@dataclass(frozen=True)
class Rejected:
    """Text that looked like a value but was rejected, with the reason. Several values mean that it is ambiguous."""

    field: str
    value: Json
    reason: str
    #: Details of the reason.
    data: Mapping[str, Json] = dataclass_field(default_factory=dict)


@dataclass(frozen=True)
class Extraction:
    """The result for one message. A field is at most once in one of the two lists."""

    extracted: tuple[Extracted, ...] = ()
    rejected: tuple[Rejected, ...] = ()


def extract(
    form: Form,
    message: str | None,
    *,
    asked_paths: Collection[str] = (),
    situation: ReadingSituation,
    missing: Collection[str] | None = None,
    preferred_paths: Sequence[Collection[str]] = (),
) -> Extraction:
    """Read the values of a message, by field path. Never raises for user input.

    `asked_paths`: the fields that the engine asked for; if it is one, the whole message may be its value, or that of
    another missing field with a type of its own (R109). `missing`: the fields without a value; default all.
    `preferred_paths`: of several fields that could take a value,
    those of the first of these groups do.
    """
    if blank(message) or form.problem:
        return Extraction()
    if len(message or "") > MOST_READ:
        return _read_letter(form, message or "", asked_paths, situation)
    specs = [field.spec for field in form.leaves]
    is_first = missing is not None and not asked_paths and len(missing) == len(form.leaves)
    meant = blank_taken_back(specs, blank_unmeant_options(specs, message or "", situation), situation)
    reading = Reading(meant, is_first=is_first)
    fields = [field for field in form.leaves if field.type not in _UNREADABLE]
    missing = [field.path for field in fields] if missing is None else missing
    situation = add_former_time(reading, [field for field in fields if field.path in missing], situation)
    asked_field = form.field(next(iter(asked_paths))) if len(asked_paths) == 1 else None
    if name := _read_name_like_day(reading, asked_field, situation):
        return _validate_candidates(reading, form, [name], [])
    is_place_asked = asks_for_place(asked_field, situation.locale)
    candidates = drop_places(
        reading, list(_list_candidates(reading, form, fields, missing)), is_place_asked=is_place_asked
    )
    places = (field for field in form.leaves if asks_for_place(field, situation.locale))
    place_words = {word for field in places for word in field.spec.question}
    candidates = drop_other_events(reading, form, candidates, asked_paths, situation, place_words)
    if year := read_other_year(reading, fields, asked_field, situation):
        return _validate_candidates(reading, form, [year], [])
    candidates = [_read_in_order(reading, claim, situation) for claim in candidates]
    candidates = _drop_outside_bounds(reading, candidates, situation)
    resolution = resolve_candidates(reading, candidates, asked_paths)
    open_fields = [field for field in fields if field.path in missing]
    values = read_sentence_values(reading, form, open_fields, situation, preferred_paths or [asked_paths])
    values = drop_other_events(reading, form, values, asked_paths, situation, place_words)
    values = drop_places(reading, values, is_place_asked=is_place_asked)
    filled = keep_filled_fields(
        reading, resolution, open_fields, situation, is_text_asked=asks_for_text(asked_field, situation.locale)
    )
    resolution = merge_sentence_values(reading, filled, values)
    claims = [*resolution.chosen, *resolution.doubtful]
    unread = [field for field in open_fields if all(claim.field is not field for claim in claims)]
    claims += read_same_values(reading, fields, unread, asked_paths, situation)
    unread = [field for field in unread if all(claim.field is not field for claim in claims)]
    introduced = read_introduced_names(reading, unread, situation, claims)
    name = None if introduced else read_listed_name(reading, unread, asked_paths, situation, claims)
    claims += [*introduced, *([name] if name else [])]
    is_yes_no = asked_field is not None and asked_field.spec.kind is Kind.YES_NO  # "Not nervous no" denies it.
    if is_yes_no or not resolution.negated.issuperset(asked_paths):
        others = [path for path in missing if path not in asked_paths]
        claims = _add_whole_answer(reading, form, asked_paths, claims, others, situation)
    if not asks_for_text(asked_field, situation.locale):
        unread = [field for field in open_fields if all(claim.field.path != field.path for claim in claims)]
        street = read_listed_street(reading, unread, claims)
        claims += [street] if street else []
    claims = [_read_label_words(form, reading, claim, situation) for claim in claims]
    claims = _replace_numbers(reading, claims, situation)
    claims = [_move_to_named_month(reading, claim, asked_paths, situation) for claim in claims]
    claims = _replace_date_parts(reading, claims, asked_paths, situation)
    claims = order_days(reading, form, claims, situation, resolution.doubtful)
    claims = [_take_day_beside(reading, claim, claims, situation) for claim in claims]
    unsure = {claim.field.path for claim in resolution.doubtful if claim.field.spec.kind is Kind.CHOICE}
    claims = [claim for claim in claims if claim.by != ANSWER or claim.field.path not in unsure]  # "Kayak or canoe, hm"
    chosen = [_check_bounds(reading, claim, situation) for claim in claims if claim not in resolution.doubtful]
    doubtful = [claim for claim in resolution.doubtful if not _is_answered(form, claim, chosen, asked_paths)]
    return _validate_candidates(reading, form, chosen, doubtful)


def _read_letter(form: Form, text: str, asked_paths: Collection[str], situation: ReadingSituation) -> Extraction:
    """A text that no reader of sentences sees whole is free text of an asked text field, or nothing."""
    field = form.field(next(iter(asked_paths))) if len(asked_paths) == 1 else None
    if field is None or field.spec.kind is not Kind.TEXT:
        return Extraction()
    reading = Reading(text)
    answer = read_answer(reading, field, situation)
    return _validate_candidates(reading, form, [answer] if answer else [], [])


def _read_name_like_day(reading: Reading, asked_field: Field | None, situation: ReadingSituation) -> Candidate | None:
    """The asked name of "Tom Friday", which has no day."""
    languages = [get_language(local.locale) for local in list_situations(situation)]
    if asked_field is None or asked_field.spec.kind is not Kind.TEXT:
        return None
    if not is_name_field(asked_field.spec, languages[0]):
        return None
    is_name = any(is_named_like_day(reading.original, language) for language in languages)
    return read_answer(reading, asked_field, situation) if is_name else None


def _is_answered(form: Form, claim: Candidate, chosen: Sequence[Candidate], asked_paths: Collection[str]) -> bool:
    """True when the asked field takes the words of this doubtful candidate of another field."""
    return claim.field.path not in asked_paths and any(
        answer.field.path in asked_paths
        and (answer.problem in _OWN_REFUSALS or not (answer.problem or form.breaks(answer.field, answer.value)))
        and answer.start <= claim.start
        and claim.end <= answer.end
        for answer in chosen
    )


def _replace_numbers(reading: Reading, claims: list[Candidate], situation: ReadingSituation) -> list[Candidate]:
    """The candidates, with the number that replaces the one before it in the same message: "3 keys, no wait 4"."""
    if not unicodedata.is_normalized("NFC", reading.original):
        return claims
    claims = list(claims)
    for number in [claim for claim in claims if claim.field.spec.kind is Kind.NUMBER]:
        for start, end, value in find_replacing_numbers(number.field.spec, reading.original, situation):
            begin, stop = reading.to_text_position(start), reading.to_text_position(end)
            before = [claim for claim in claims if claim.field.spec.kind is Kind.NUMBER and claim.end <= begin]
            is_free = all(claim.end <= begin or stop <= claim.start for claim in claims)
            last = max(before, key=lambda claim: claim.end, default=None)
            if is_free and last is not None and last.field is number.field and (value.has_value or value.reason):
                new = value.value if value.has_value else reading.quote(begin, stop)
                problem = None if value.has_value else str(value.reason)
                claims.remove(last)
                claims.append(replace(last, value=new, problem=problem, data=value.data))
    return claims


def _replace_date_parts(
    reading: Reading, claims: list[Candidate], asked_paths: Collection[str], situation: ReadingSituation
) -> list[Candidate]:
    """The candidates with the corrected days. What the corrected day of the asked field covers is no other day."""
    replaced = [_replace_date_part(reading, claim, situation) for claim in claims]
    changed = [new for new, old in zip(replaced, claims, strict=True) if new is not old]
    own = next((claim for claim in changed if claim.field.path in asked_paths), None)
    return [
        claim
        for claim in replaced
        if own is None
        or claim is own
        or claim.field.spec.kind is not Kind.DATE
        or claim.end <= own.start
        or own.end <= claim.start
    ]


def _replace_date_part(reading: Reading, claim: Candidate, situation: ReadingSituation) -> Candidate:
    """The candidate with the year, month or day of the month that corrects its day: "08/21/2018, sorry 2017"."""
    retraction = find_retraction(reading.original, situation) if claim.field.spec.kind is Kind.DATE else None
    day = claim.data.get("value") if claim.problem == Reason.OUT_OF_BOUNDS else claim.value
    is_before = retraction is not None and (
        reading.span(claim.start, claim.end)[1] <= len(retraction[0])
        or read_value(claim.field.spec, retraction[0], situation).value == day
    )
    if retraction is None or not is_before or not isinstance(day, str):
        return claim
    if any(old == retraction[1].strip(" .!?") for old, _ in find_contrasts(reading.original, situation)):
        return claim  # "3 May 1980, not 1981"
    clause = _CLAUSE_END.split(retraction[1], maxsplit=1)[0]
    new = replace_date_part(claim.field.spec, day, clause, replace(situation, is_asked=True))
    if new.has_value:
        return replace(claim, value=new.value, problem=None, data={}, end=len(reading.text))
    return replace(claim, value=clause, problem=new.reason.value, data=new.data) if new.reason else claim


def _move_to_named_month(
    reading: Reading, claim: Candidate, asked_paths: Collection[str], situation: ReadingSituation
) -> Candidate:
    """The candidate for the asked day, or for one that is over, in the month and year that the message names."""
    spec = claim.field.spec
    day = claim.data.get("value") if claim.problem == Reason.OUT_OF_BOUNDS else claim.value
    is_asked = claim.field.path in asked_paths
    if spec.kind is not Kind.DATE or not isinstance(day, str) or not (is_asked or spec.maximum == "today"):
        return claim
    if claim.problem not in (None, Reason.OUT_OF_BOUNDS):
        return claim
    moved = move_to_named_month(spec, day, reading.original, replace(situation, is_asked=True))
    if moved.has_value:
        return replace(claim, value=moved.value, problem=None, data={})
    words = reading.quote(claim.start, claim.end)
    return replace(claim, value=words, problem=moved.reason.value, data=moved.data) if moved.reason else claim


def _read_label_words(form: Form, reading: Reading, claim: Candidate, situation: ReadingSituation) -> Candidate:
    """The candidate with its words as people say them, if they are no value as written: "change the time to 4"."""
    spec = claim.field.spec
    if claim.by != LABEL or spec.kind not in _CALENDAR or not isinstance(claim.value, str):
        return claim
    if claim.problem is None and not form.breaks(claim.field, claim.value):
        return claim
    # "8 pm" is another time than its number.
    value = read_value(spec, reading.quote(claim.start, reading.clause(claim.start)[1]), situation)
    if value == NOTHING:
        value = read_value(spec, claim.value, situation)
    if value.has_value:
        return replace(claim, value=value.value, problem=None)
    data = {**value.data, **({"candidates": list(value.candidates)} if value.candidates else {})}
    reason = value.reason.value if value.reason else AMBIGUOUS if value.candidates else claim.problem
    return replace(claim, problem=reason, data=data) if reason else claim


def _take_day_beside(
    reading: Reading, claim: Candidate, claims: Sequence[Candidate], situation: ReadingSituation
) -> Candidate:
    """The candidate with the day that is counted from it: "my birthday is on the 24th, so the day before"."""
    days = [other for other in claims if other.field.spec.kind is Kind.DATE and not other.problem]
    if days != [claim] or not isinstance(claim.value, str):
        return claim
    shift = find_day_beside(claim.field.spec, reading.original, situation)
    if not shift:
        return claim
    return replace(claim, value=(date.fromisoformat(claim.value[:10]) + timedelta(days=shift)).isoformat())


def _check_bounds(reading: Reading, claim: Candidate, situation: ReadingSituation) -> Candidate:
    """The candidate, with a problem if its day or time is outside of the bounds, which may count from today."""
    spec = claim.field.spec
    if claim.problem or spec.kind not in _CALENDAR or (spec.minimum, spec.maximum) == (None, None):
        return claim
    value = read_value(spec, str(claim.value), situation)
    if value.reason is not Reason.OUT_OF_BOUNDS:
        return claim
    words = reading.quote(claim.start, claim.end)
    return replace(claim, value=words, problem=value.reason.value, data=value.data)


def _read_in_order(reading: Reading, claim: Candidate, situation: ReadingSituation) -> Candidate:
    """The candidate with the day of "4/12/1985", where the country says whether the month comes first."""
    if claim.problem != DATE_AMBIGUOUS:
        return claim
    unbounded = replace(claim.field.spec, minimum=None, maximum=None)
    value = read_value(unbounded, reading.quote(claim.start, claim.end), situation)
    return replace(claim, value=value.value, problem=None) if value.has_value else claim


def _drop_outside_bounds(
    reading: Reading, candidates: Sequence[Candidate], situation: ReadingSituation
) -> list[Candidate]:
    """The candidates without days that only another field allows: "24.12.2021" is a birthday and no appointment."""
    checked = [(claim, _check_bounds(reading, claim, situation).problem) for claim in candidates]
    fits = {(claim.start, claim.end) for claim, problem in checked if claim.field.spec.kind in _DAYS and not problem}
    return [
        claim
        for claim, problem in checked
        if not (
            claim.field.spec.kind in _DAYS
            and claim.by == FORMAT
            and problem
            and not claim.problem
            and (claim.start, claim.end) in fits
        )
    ]


def _list_candidates(
    reading: Reading, form: Form, fields: Sequence[Field], missing: Collection[str]
) -> Iterator[Candidate]:
    """Collect the candidates of every reader. Bare numbers come last, when the other readers have claimed their
    fields.
    """
    surer = [*read_by_label(reading, fields, missing), *unlabelled.read_by_unit(reading, fields)]
    numbers = [claim for claim in surer if is_numeric(claim.field)]
    claimed = {
        claim.field.path
        for claim in numbers
        if not is_negated_or_hypothetical(reading, claim.field, claim.start, claim.end, claim.begins)
    }
    yield from surer
    yield from read_by_direction(reading, fields)
    yield from read_street_pair(reading, sort_fields(form, (field for field in fields if field.path in missing)))
    yield from unlabelled.read_by_pattern(reading, form, fields)
    yield from unlabelled.read_by_format(reading, fields)
    yield from unlabelled.read_by_choice(reading, fields)
    yield from unlabelled.read_by_shape(reading, fields)
    yield from unlabelled.read_by_number(reading, fields, claimed, unlabelled.list_shaped_fields(fields))


#: The asked field has read a value and refuses it, so the message is no answer for another field.
_OWN_REFUSALS = (Reason.OUT_OF_BOUNDS, Reason.NOT_WHOLE, Reason.INVALID_DATE, Reason.INVALID_TIME)

#: It has read a part of a day and time, so that "some time next week" names no field.
_PARTS = (Reason.DAY_MISSING, Reason.TIME_MISSING, Reason.DATE_MISSING)


def _add_whole_answer(
    reading: Reading,
    form: Form,
    asked_paths: Collection[str],
    candidates: list[Candidate],
    others: Collection[str],
    situation: ReadingSituation,
) -> list[Candidate]:
    """Add the whole message as the answer for the only field asked for, unless it has a candidate.

    `others`: the other missing fields.
    """
    field = form.field(next(iter(asked_paths))) if len(asked_paths) == 1 else None
    if field is None:
        return candidates
    own = [claim for claim in candidates if claim.field.path == field.path]
    # Of two fields of a kind, the one that has a value already does not take the words of the asked one.
    candidates = [
        claim
        for claim in candidates
        if claim in own
        or claim.field.path in others
        or not any(claim.start == mine.start and claim.end == mine.end for mine in own)
    ]
    has_claim = bool(own)
    alone = all(claim.field.path == field.path for claim in candidates)
    if has_claim and (field.spec.kind is Kind.TEXT or not alone):
        return candidates
    if field.spec.kind is Kind.NUMBER and not has_claim:
        candidates = [claim for claim in candidates if not _is_only_number(reading, claim, situation)]
    answer = read_answer(reading, field, situation)
    if _lacks_year(answer, candidates):
        return [answer] if answer else candidates
    if answer is None and not candidates:
        answer = read_count(reading, field, situation)
    if has_claim:
        # The whole answer, if it is one, says more than the part that another reader found.
        if answer is None or answer.problem or answer.end - answer.start < len(reading.text):
            return candidates
        return [answer]
    is_own = answer is not None and (answer.problem in _OWN_REFUSALS or _is_hour(answer))
    is_own = is_own and not (answer and _is_impossible_number(answer, reading, situation))
    if (answer is None or (answer.problem and not is_own)) and not candidates:
        accepted = [other for path in others if (other := _read_for_other(reading, form, path, situation, field))]
        if len(accepted) == 1 and not _may_be_moment(reading, form, accepted[0], others, situation):
            return accepted
    touched = [claim for claim in candidates if answer and claim.start < answer.end and answer.start < claim.end]
    is_same = answer is not None and all(claim.yields and _covers(claim, answer) for claim in touched)
    if candidates and (answer is None or answer.problem or (field.spec.kind is Kind.TEXT and not is_same)):
        # What others did not take may be the answer: "John Smith, tomorrow at 3".
        beside = read_beside_values(reading, field, situation, candidates)
        return [*candidates, beside] if beside else candidates
    if answer is None or (answer.problem not in (None, *_PARTS) and _names_other_field(reading, form, field)):
        return candidates
    if field.spec.kind is Kind.NUMBER and _names_other_count(reading, form, field):
        return candidates  # "Only chairs, 20" for the tables
    if field.spec.kind is Kind.YES_NO and touched:
        return [*candidates, answer]  # "Yes, for all 4 of us"
    # "Just the 1" is no day where a number is asked for, and "3h" no time where a duration is.
    weaker = {Kind.NUMBER: Kind.DATE, Kind.DURATION: Kind.TIME}.get(field.spec.kind)
    if field.spec.kind is Kind.DATE and all(_covers(claim, answer) for claim in touched):
        weaker = Kind.TIME  # "20.11"
    if not all(claim.yields or claim.field.spec.kind is weaker for claim in touched):
        beside = read_beside_values(reading, field, situation, candidates)
        return [*candidates, beside] if beside else candidates  # "Six, and a helmet"
    if field.spec.kind is Kind.NUMBER:
        touched = [claim for claim in touched if has_number(reading.quote(claim.start, claim.end), situation)]
    return [*(claim for claim in candidates if claim not in touched), answer]  # "Friday, 10 I guess"


def _is_hour(answer: Candidate) -> bool:
    """True for "one" where a time is asked for: one in the morning or in the afternoon."""
    return answer.field.spec.kind is Kind.TIME and bool(answer.data.get("candidates"))


def _is_impossible_number(answer: Candidate, reading: Reading, situation: ReadingSituation) -> bool:
    """True for "40" where a day or a time is asked for: no month has so many days, and no day so many hours."""
    if answer.problem not in (Reason.INVALID_DATE, Reason.INVALID_TIME):
        return False
    is_bare = reading.original.strip().isdigit() or is_hedged_number(reading.original, situation)
    return is_bare and int("".join(filter(str.isdigit, reading.original))) > _MOST_DAYS


def _may_be_moment(
    reading: Reading, form: Form, accepted: Candidate, others: Collection[str], situation: ReadingSituation
) -> bool:
    """True for a bare number that may be the hour or the day that is still open, and no amount: "3"."""
    open_fields = [field for path in others if (field := form.field(path)) is not None]
    moments = [field for field in open_fields if field.spec.kind in (Kind.TIME, Kind.DATE, Kind.DATE_TIME)]
    is_bare = is_numeric(accepted.field) and reading.original.strip().isdigit()
    answers = (read_answer(reading, field, situation) for field in moments)
    return is_bare and any(answer and not _is_impossible_number(answer, reading, situation) for answer in answers)


def _is_only_number(reading: Reading, claim: Candidate, situation: ReadingSituation) -> bool:
    """True for the "around 15" of a time."""
    return claim.field.spec.kind is Kind.TIME and is_hedged_number(reading.quote(claim.start, claim.end), situation)


def _lacks_year(answer: Candidate | None, candidates: Sequence[Candidate]) -> bool:
    """True for a birthday without its year, which is no day of another field: "the 12th of May"."""
    return (
        answer is not None
        and answer.field.spec.kind is Kind.DATE
        and answer.problem == Reason.AMBIGUOUS
        and not answer.data
        and all(claim.field.spec.kind in _DAYS and claim.field is not answer.field for claim in candidates)
    )


def _covers(candidate: Candidate, answer: Candidate) -> bool:
    return candidate.start <= answer.start and answer.end <= candidate.end


def _read_for_other(
    reading: Reading,
    form: Form,
    path: str,
    situation: ReadingSituation,
    asked_field: Field,
) -> Candidate | None:
    """The message as the answer for a field that was not asked for, if it has a type of its own."""
    field = form.field(path)
    if field is None or field.spec.kind in (Kind.TEXT, Kind.YES_NO):
        return None
    if field.spec.kind is asked_field.spec.kind and field.spec.kind is not Kind.CHOICE:
        return None
    if field.spec.kind is Kind.PATTERN and not has_whole_pattern(field):
        return None
    answer = read_answer(reading, field, replace(situation, is_asked=False))
    if answer is None or answer.problem or form.breaks(field, answer.value):
        return None
    return None if _is_past(field, answer.value, situation) else answer


def _is_past(field: Field, value: Json, situation: ReadingSituation) -> bool:
    """True for a day before today of a field that does not ask for one: "about 2 weeks ago"."""
    is_day = field.spec.kind in (Kind.DATE, Kind.DATE_TIME) and isinstance(value, str)
    return is_day and field.spec.maximum is None and value[:10] < situation.now.date().isoformat()


def _names_other_field(reading: Reading, form: Form, field: Field) -> bool:
    """True when the message names a field that was not asked for, so it is no attempt to answer."""
    return any(name.field is not field for name in find_mentions(reading, form.leaves))


def _names_other_count(reading: Reading, form: Form, field: Field) -> bool:
    """True when the message names only other fields that count something."""
    mentions = find_mentions(reading, [other for other in form.leaves if other.spec.kind is Kind.NUMBER])
    return bool(mentions) and all(name.field is not field for name in mentions)


def _validate_candidates(
    reading: Reading, form: Form, chosen: list[Candidate], doubtful: Sequence[Candidate]
) -> Extraction:
    """Validate the candidates with the schema of their fields."""
    extracted: list[Extracted] = []
    rejected: dict[str, Rejected] = {}
    for claim in chosen:
        path = claim.field.path
        reason = claim.problem or (VALUE_VIOLATES_SCHEMA if form.breaks(claim.field, claim.value) else None)
        if reason:
            rejected[path] = Rejected(path, claim.value, reason, claim.data)
        else:
            extracted.append(Extracted(path, claim.value, reading.span(claim.start, claim.end), claim.by))
    for path in dict.fromkeys(claim.field.path for claim in doubtful):
        values = list(dict.fromkeys(claim.value for claim in doubtful if claim.field.path == path))
        rejected[path] = Rejected(path, values[0] if len(values) == 1 else values, AMBIGUOUS)
    order = {field.path: number for number, field in enumerate(form.leaves)}
    return Extraction(
        tuple(sorted(extracted, key=lambda claim: order[claim.field])),
        tuple(sorted(rejected.values(), key=lambda claim: order[claim.field])),
    )
