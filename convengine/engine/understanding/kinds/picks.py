"""The answer to "07:00 or 19:00?": what tells one offered value from the others ("pm", "the later one", "the 4th")."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime

from convengine.engine.understanding.field import FieldSpec
from convengine.engine.understanding.grammar import Chart, GrammarPhrase
from convengine.engine.understanding.kinds.clock_phrases import is_within
from convengine.engine.understanding.kinds.days import read_day
from convengine.engine.understanding.kinds.find import find_telling_words
from convengine.engine.understanding.span import Resolved, Sort, Span, choose_among, list_sorts
from convengine.json_value import Json

#: `means` of words that choose one of the values that were offered.
PICK = "pick"
_PLACE = "place"
_SORTS = (Sort.DAY, Sort.CLOCK, Sort.MOMENT, Sort.LENGTH, Sort.NUMBER)
#: The slot with what the words are where nothing was offered.
_OTHERWISE = "otherwise"
_PART = "part"
_HOURS = ("day_part", _PART)
#: What phrases mean that name a day, but not its month.
_WITHOUT_MONTH = ("weekday", "day_only")
_NUMBERS = ("ordinal", "number_ordinal", "ordinal_word", "day_number")


def add_picks(chart: Chart, spans: Sequence[Span], specs: Sequence[FieldSpec]) -> list[Span]:
    """The spans, with words that choose one of several offered values instead of weak ones: "the second"."""
    wanted = {sort for spec in specs for sort in list_sorts(spec)}.intersection(_SORTS)
    match = next(_list_picks(chart), None) if wanted else None
    if match is None:
        return list(spans)
    others = [span for span in spans if span.sort not in wanted]
    return [*others, *(span for sort in _SORTS if sort in wanted for span in _pick(spans, sort, *match))]


def _list_picks(chart: Chart) -> Iterator[tuple[int, int, GrammarPhrase]]:
    """Words that choose a value and are all of a message; no bare number, which is one."""
    for at in range(len(chart.words)):
        matches = [match for name in (PICK, _PLACE) if (match := chart.match_longest(name, at))]
        longest = max(matches, key=lambda match: match.end, default=None)
        is_bare = longest is not None and longest.end == at + 1 and chart.words[at].is_number
        if longest and not is_bare and find_telling_words(chart) <= set(range(at, longest.end)):
            yield at, longest.end, longest.value


def _pick(spans: Sequence[Span], sort: Sort, start: int, end: int, phrase: GrammarPhrase) -> list[Span]:
    """The spans of a sort, or one that chooses instead of weak ones. "The evening one" is no one o'clock."""
    own = [span for span in spans if span.sort is sort]
    has_part = _PART in phrase.slots
    if not (has_part or all(span.is_weak for span in own)):
        return own
    slots = {**phrase.slots, _OTHERWISE: own[0] if len(own) == 1 and not has_part else None}
    return [Span(sort, start, end, GrammarPhrase(PICK, slots), is_weak=True)]


def get_otherwise(span: Span) -> Span | None:
    """What the words of a pick are where nothing was offered. Returns None for nothing."""
    otherwise: Span | None = span.phrase.slots[_OTHERWISE]
    return otherwise


def choose_offered(phrase: GrammarPhrase, resolved: Resolved | None, offered: Sequence[Json]) -> Resolved | None:
    """The offered values that an answer leaves. Returns None where it does not choose among them."""
    if len(offered) < 2:
        return None
    if resolved and (again := [value for value in resolved.values if value in offered]):
        return choose_among(again)
    choosers = (_choose_by_order, _choose_by_hours, _choose_by_day, _choose_by_half)
    chosen = next((values for choose in choosers if (values := choose(phrase, resolved, offered))), ())
    return choose_among(chosen) if chosen else None


def _choose_by_order(phrase: GrammarPhrase, resolved: Resolved | None, offered: Sequence[Json]) -> Sequence[Json]:
    """ "The second", "the later one", "summer time"."""
    slots = phrase.slots
    if phrase.means != PICK:
        return ()
    if "order" in slots:
        key: Callable[[Json], Json] = _find_offset if slots.get("by") == "offset" else _find_size
        ranked = sorted(offered, key=key)
        return (ranked[0] if slots["order"] == "least" else ranked[-1],)
    number = next((slots[name] for name in (_PLACE, "ordinal_word", "two_digits") if name in slots), 0)
    position = number - 1 if number > 0 else number
    return (offered[position],) if number and -len(offered) <= position < len(offered) else ()


def _find_size(value: Json) -> Json:
    return value if isinstance(value, (int, float)) else str(value)


def _find_offset(value: Json) -> Json:
    """How far a moment's clock is from Greenwich; that of summer time is further east."""
    return datetime.fromisoformat(str(value)).utcoffset()


def _choose_by_hours(phrase: GrammarPhrase, resolved: Resolved | None, offered: Sequence[Json]) -> Sequence[Json]:
    """ "pm", "in the evening", "the evening one"."""
    hours = None if resolved and resolved.values else _find_slot(phrase, _HOURS)
    return [value for value in offered if hours and is_within(_find_hour(value), *hours)]


def _find_hour(value: Json) -> int:
    """The hour of a time or a moment; -1 for another value."""
    text = value.partition("T")[2] or value if isinstance(value, str) else ""
    return int(text[:2]) if text[:2].isdecimal() and text[2:3] == ":" else -1


def _find_slot(phrase: GrammarPhrase, names: Sequence[str]) -> Json:
    """The value of the first of these slots in a phrase, or in one inside it. Returns None if it has no such slot."""
    for name, value in phrase.slots.items():
        inner = _find_slot(value, names) if isinstance(value, GrammarPhrase) else value if name in names else None
        if inner is not None:
            return inner
    return None


def _choose_by_day(phrase: GrammarPhrase, resolved: Resolved | None, offered: Sequence[Json]) -> Sequence[Json]:
    """ "Sunday's", "the 4th", "in March", and the day of a moment."""
    data: Mapping[str, Json] = resolved.data if resolved else {}
    first, last = read_day(data.get("from")), read_day(data.get("to"))
    days = _list_days(offered)
    if first and last:
        return [value for value, each_day in days if first <= each_day <= last]
    day = read_day(data.get("date"))
    if day and day in [each_day for _, each_day in days]:
        return [value for value, each_day in days if each_day == day]
    named = phrase.slots.get("date", phrase)
    return [value for value, each_day in days if named.means in _WITHOUT_MONTH and _fits(each_day, named)]


def _list_days(offered: Sequence[Json]) -> list[tuple[Json, date]]:
    return [(value, day) for value in offered if (day := read_day(value))]


def _fits(day: date, named: GrammarPhrase) -> bool:
    """True for a day with the number and the weekday that are named."""
    number, weekday = _find_slot(named, _NUMBERS), named.slots.get("weekday")
    return (number is None or day.day == number) and (weekday is None or day.weekday() == weekday)


def _choose_by_half(phrase: GrammarPhrase, resolved: Resolved | None, offered: Sequence[Json]) -> Sequence[Json]:
    """The time of a moment: "7 pm" where 7 am was offered, too."""
    time = resolved.data.get("time") if resolved else None
    return [value for value in offered if time and isinstance(value, str) and value[11:16] == time]
