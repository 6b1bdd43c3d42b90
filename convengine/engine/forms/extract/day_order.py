"""Dates of one form that follow each other: the arrival, then the departure."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from convengine.engine.forms.asking import sort_fields
from convengine.engine.forms.extract.candidate import LABEL, VALUE, Candidate
from convengine.engine.forms.extract.reading import Reading
from convengine.engine.forms.extract.typed_values import identifies
from convengine.engine.forms.form import Field, Form
from convengine.engine.text.words import split_words
from convengine.engine.values import Kind, ReadingSituation, Reason, has_only_fillers, read_value
from convengine.engine.values.find import find_day_beside
from convengine.engine.values.language import Language, get_language, list_languages
from convengine.engine.values.tokens import fold_text

_DAYS = (Kind.DATE, Kind.DATE_TIME)
#: Kinds of fields that take no year.
_NO_YEARS = (Kind.TEXT, Kind.CHOICE, Kind.TIME, Kind.YES_NO, Kind.EMAIL, Kind.PHONE)
_CLAUSE = re.compile(r"[,;.!–]+|\s-\s")
_MOST_CLAUSES = 3
_YEAR = re.compile(r"20\d\d")
#: Shorter words say nothing about an event.
_SHORT = 4
#: How many words before an event may say that something is for it: "for my little daughter's birthday".
_PURPOSE_REACH = 4
#: How many characters before and behind a day may say that another event is then.
_EVENT_REACH = 80


def is_day_field(field: Field) -> bool:
    """True for a date, with or without a time."""
    return field.spec.kind in _DAYS


def find_earlier_days(form: Form, held: Mapping[str, str]) -> dict[str, str]:
    """For each date field behind one that holds a day: that day. `held`: the days by path."""
    earlier: dict[str, str] = {}
    last = ""
    for field in sort_fields(form, filter(is_day_field, form.leaves)):
        if last:
            earlier[field.path] = last
        last = held.get(field.path, last)
    return earlier


def read_other_year(
    reading: Reading, fields: Sequence[Field], asked_field: Field | None, situation: ReadingSituation
) -> Candidate | None:
    """The only day of the form that may have the year that is all that the message says: "next year that is, 2028"."""
    if asked_field is None or asked_field.spec.kind not in _NO_YEARS or identifies(asked_field):
        return None
    held = [field for field in fields if field.path in situation.held_days and field.spec.kind is Kind.DATE]
    days = [day for field in held if (day := _read_year_of_day(reading, field, situation))]
    return days[0] if len(days) == 1 else None


def _read_year_of_day(reading: Reading, field: Field, situation: ReadingSituation) -> Candidate | None:
    clauses = [clause for clause in _CLAUSE.split(reading.original) if any(map(str.isalnum, clause))]
    if not 0 < len(clauses) <= _MOST_CLAUSES or "?" in reading.original:
        return None
    spec, local = field.spec, replace(situation, is_asked=True)
    values = [read_value(spec, clause, local) for clause in clauses if not has_only_fillers([clause], situation)]
    days = {value.value for value in values}
    day_of_year = situation.held_days[field.path][4:]
    is_year = all(value.has_value and str(value.value).endswith(day_of_year) for value in values) and _names_year(
        reading
    )
    if len(days) != 1 or not is_year:
        return None
    return Candidate(field, 0, len(reading.text), days.pop(), VALUE)


def _names_year(reading: Reading) -> bool:
    """True when the only number of a message is a year, or it has none."""
    return all(_YEAR.fullmatch(number) for number in re.findall(r"\d+", reading.original))


def order_days(
    reading: Reading,
    form: Form,
    claims: Sequence[Candidate],
    situation: ReadingSituation,
    doubtful: Collection[Candidate] = (),
) -> list[Candidate]:
    """The candidates, with the days of one message in the order of the form: of "the 28th, back on the 3rd", the 3rd is
    one of the next month. `doubtful`: those that replace no day that is held.
    """
    days = {claim.field.path: claim.value[:10] for claim in claims if _has_day(claim) and claim not in doubtful}
    earlier = find_earlier_days(form, {**situation.held_days, **days})
    ordered = [_move_behind(reading, claim, earlier.get(claim.field.path, ""), days, situation) for claim in claims]
    held = {**situation.held_days, **days}
    starts = {path: held.get(start, "") for path, start in _find_start_fields(form).items()}
    return [_refuse_before_start(reading, claim, starts) for claim in ordered]


def _find_start_fields(form: Form) -> dict[str, str]:
    """For each date that must not be before another one, that one, by path: `x-after`, or what their names say."""
    fields = sort_fields(form, filter(is_day_field, form.leaves))
    starts = {field.path: str(field.declared["x-after"]) for field in fields if field.declared.get("x-after")}
    end = _find_end_field(form)
    return starts if end is None else {end.path: fields[0].path, **starts}


def _find_end_field(form: Form) -> Field | None:
    """The second of the form's two dates, if their names say that something begins and ends: arrival and departure."""
    fields = sort_fields(form, filter(is_day_field, form.leaves))
    is_pair = len(fields) == 2 and all(
        not _list_words(table).isdisjoint(field.spec.words)
        for field, table in zip(fields, ("start_fields", "end_fields"), strict=False)
    )
    return fields[1] if is_pair else None


@lru_cache(maxsize=2)
def _list_words(table: str) -> frozenset[str]:
    """The words of a table in all languages, as the names of fields have them."""
    phrases = (phrase for code in list_languages() for phrase in get_language(code).words[table])
    return frozenset(word for phrase in phrases for word in split_words(phrase))


def _refuse_before_start(reading: Reading, claim: Candidate, starts: Mapping[str, str]) -> Candidate:
    """The candidate, refused if its day is before the one on which it begins."""
    start = starts.get(claim.field.path, "")
    if not start or not _has_day(claim) or claim.value[:10] >= start:
        return claim
    words = reading.quote(claim.start, claim.end)
    return replace(claim, value=words, problem=Reason.OUT_OF_BOUNDS.value, data={"min": start})


def _move_behind(
    reading: Reading, claim: Candidate, earlier: str, days: Mapping[str, str], situation: ReadingSituation
) -> Candidate:
    is_new = earlier and earlier in days.values() and _has_day(claim)
    if not is_new or claim.value[:10] > earlier or earlier < situation.now.date().isoformat():
        return claim
    path, held = claim.field.path, {key: day for key, day in situation.held_days.items() if key != claim.field.path}
    local = replace(situation, is_asked=False, earlier_days={path: earlier}, held_days=held)
    value = read_value(claim.field.spec, reading.quote(claim.start, claim.end), local)
    return replace(claim, value=value.value) if value.has_value else claim


def _has_day(claim: Candidate) -> bool:
    return is_day_field(claim.field) and claim.problem is None and isinstance(claim.value, str)


def drop_other_events(
    reading: Reading,
    form: Form,
    candidates: Sequence[Candidate],
    asked_paths: Collection[str],
    situation: ReadingSituation,
    place_words: Collection[str] = (),
) -> list[Candidate]:
    """The candidates without days of other events: "the wedding is in three weeks", "my son's birthday is on the 5th".

    `place_words`: the words of a question for a place. "Where are you getting married?" says what the form is for.
    """
    return [
        candidate
        for candidate in candidates
        if not is_day_field(candidate.field)
        or candidate.by == LABEL
        or not (
            (
                candidate.field.path not in asked_paths
                and is_of_other_event(reading, candidate.field, candidate.start, place_words)
            )
            or _tells_of_other_event(reading, form, candidate, situation)
        )
    ]


def _tells_of_other_event(reading: Reading, form: Form, candidate: Candidate, situation: ReadingSituation) -> bool:
    """True for the day of a clause that says when something else is, or when somebody is away.

    Not where the clause wishes for something, where the form is about such events, and where the day beside is meant.
    """
    begin = max(reading.clause(candidate.start)[0], candidate.start - _EVENT_REACH)
    stop = min(reading.clause(candidate.end)[1], candidate.end + _EVENT_REACH)
    texts = reading.quote(begin, candidate.start), reading.quote(candidate.end, stop)
    clauses = [(language, _list_clause_words(*texts, language)) for language in map(get_language, list_languages())]
    if any(_wishes(words, language) for language, words in clauses):
        return False
    dating = [language for language, words in clauses if _dates_event(words, language)]
    if not dating or find_day_beside(candidate.field.spec, reading.original, situation):
        return False
    own = {fold_text(word) for field in form.leaves for word in _list_own_words(field)}
    return any(not any(_names_dated_event(word, language) for word in own) for language in dating)


def _list_clause_words(before: str, after: str, language: Language) -> list[str]:
    """The words around a day, up to one that concludes: "the wedding is on the 12th, so the 10th"."""
    first = [token.text for token in language.read_tokens(before).tokens]
    last = [token.text for token in language.read_tokens(after).tokens]
    ends = [index for index, word in enumerate(first) if language.is_in("conclusions", word)]
    stops = [index for index, word in enumerate(last) if language.is_in("conclusions", word)]
    return [*(first[ends[-1] + 1 :] if ends else first), *(last[: stops[0]] if stops else last)]


def _wishes(words: Sequence[str], language: Language) -> bool:
    return not _list_wish_verbs(language).isdisjoint(words)


@lru_cache(maxsize=16)
def _list_wish_verbs(language: Language) -> frozenset[str]:
    return frozenset(map(fold_text, language.words["yes_no"]["wish_verbs"]))


def _dates_event(words: Sequence[str], language: Language) -> bool:
    """True when one of the words is an event or an absence, and no purpose, and a verb says when it is."""
    events = [index for index, word in enumerate(words) if _names_dated_event(word, language)]
    has_verb = any(language.is_in("dating_verbs", word) for word in words)
    return has_verb and any(not _is_purpose(words[:index], language) for index in events)


def _list_own_words(field: Field) -> Iterator[str]:
    yield from (*field.spec.words, *field.spec.question)
    for option in field.spec.options:
        for text in (option.label, *option.synonyms):
            yield from split_words(text)


@lru_cache(maxsize=4096)
def _names_dated_event(word: str, language: Language) -> bool:
    """True for "party" and "Geburtstagsparty"."""
    plain = word.partition("'")[0]
    ends = tuple(fold_text(event) for event in language.words["dated_things"] if len(event) > _SHORT)
    is_joined = bool(language.words.get("joins_words")) and plain.endswith(ends)
    return is_joined or language.is_in("dated_things", plain)


def _is_purpose(words: Sequence[str], language: Language) -> bool:
    """True for the words before an event that say what something is for: "for my daughter's birthday"."""
    return any(language.is_in("purpose_leads", word) for word in words[-_PURPOSE_REACH:])


def is_of_other_event(reading: Reading, field: Field, start: int, place_words: Collection[str] = ()) -> bool:
    """True when the words before a day say that another event is then, which the field does not ask for."""
    match = _compile_events().search(reading.before(start))
    own = (*field.spec.words, *field.spec.question, *place_words)
    return match is not None and not any(
        word.startswith(event) for event in match["event"].split() if len(event) > _SHORT for word in own
    )


@lru_cache(maxsize=1)
def _compile_events() -> re.Pattern[str]:
    words = {phrase for code in list_languages() for phrase in get_language(code).words["other_events"]}
    phrases = "|".join(sorted((re.escape(Reading(phrase).text) for phrase in words), key=len, reverse=True))
    return re.compile(rf"\b(?P<event>{phrases})(?:\s+\w+){{0,2}}\s*$")
