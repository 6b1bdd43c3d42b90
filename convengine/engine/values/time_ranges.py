"""Two times in one phrase, for a form that asks for a time and a number of hours: "on 8 May from 6 to 8pm"."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from convengine.engine.values.field_spec import FieldSpec, Kind
from convengine.engine.values.language import Language
from convengine.engine.values.numbers import get_tables, list_field_units

_HOUR, _HALF, _DAY = 60, 12 * 60, 24 * 60
#: As people count them before and behind an hour: "20 to 4".
_MINUTES = ("5", "10", "20")
_MARKS = {"am": 0, "a.m.": 0, "pm": _HALF, "p.m.": _HALF}


@dataclass(frozen=True)
class TimeRange:
    """A text that says the first time only, and how long it is until the second one."""

    text: str
    length: FieldSpec
    minutes: int
    #: Where the first time ends in the original text.
    first_end: int
    #: The position of the end of the second time.
    start: int
    end: int


def find_time_range(specs: Sequence[FieldSpec], text: str, language: Language) -> TimeRange | None:
    """The only range of times in a text, if the form asks for one time and one length; else null."""
    times = [spec for spec in specs if spec.kind in (Kind.TIME, Kind.DATE_TIME)]
    lengths = [spec for spec in specs if _is_length(spec, language)]
    matches = list(_compile_range(language).finditer(text))
    if len(times) != 1 or times[0].is_paired or len(lengths) != 1 or len(matches) != 1:
        return None
    match = matches[0]
    minutes = _measure(match)
    if minutes is None:
        return None
    first_end = len(text[: match.start("joint")].rstrip())
    lead = match["lead"] or ""
    at = str(language.calendar["before_range_start"]).rjust(len(lead)) if lead else ""
    unit = "" if match["first_unit"] else f" {_find_first_unit(match)}"
    gap = unit.ljust(match.end() - match.start("joint"))
    plain = text[: match.start("joint")] + gap + text[match.end() :]
    if lead:
        plain = plain[: match.start("lead")] + at[: len(lead)] + plain[match.end("lead") :]
    return TimeRange(plain, lengths[0], minutes, first_end, match.end() - 1, match.end())


def cut_time_range(text: str, language: Language) -> str:
    """The first time of an answer that is a range, "2pm" of "between 2 and 4pm"; blank for other texts."""
    match = _compile_whole_range(language).fullmatch(text.strip(" .!"))
    if match is None or _may_count_minutes(match, language):
        return ""
    hours = [int(re.split(r"[:.]", match[name])[0]) for name in ("first", "second_hour")]
    unit = match["first_unit"] or match["unit"] or ""
    if not match["first_unit"] and _MARKS.get(unit.lower()) == _HALF and hours[0] % 12 > hours[1] % 12:
        unit = "am"  # "11 to 1pm"
    return f"{match['first']} {unit}".strip()


def _may_count_minutes(match: re.Match[str], language: Language) -> bool:
    """True for "20 to 4", which may be 3:40: the joint of a range that no word begins and no unit marks."""
    is_bare = not (match["lead"] or match["first_unit"])
    return is_bare and match["first"] in _MINUTES and match["joint"].lower() in language.calendar["minute_joints"]


@lru_cache(maxsize=16)
def _compile_whole_range(language: Language) -> re.Pattern[str]:
    def join(*names: str) -> str:
        words = [re.escape(word) for name in names for word in language.calendar[name]]
        return "|".join(sorted(words, key=len, reverse=True))

    units = join("range_units")
    clock = r"(?:[01]?\d|2[0-4])(?:[:.][0-5]\d)?"
    joint = rf"(?P<joint>-|–|\b(?:{join('range_ends', 'range_conjunctions')})\b)"
    return re.compile(
        rf"(?P<lead>(?:(?:{join('range_starts', 'range_leads')})\s+)*)(?P<first>{clock})\s*(?P<first_unit>{units})?"
        rf"\s*{joint}\s*(?P<second_hour>{clock})\s*(?P<unit>{units})?",
        re.IGNORECASE,
    )


def _is_length(spec: FieldSpec, language: Language) -> bool:
    return spec.kind is Kind.NUMBER and list_field_units(spec, get_tables(language)) == {"hour"}


def _measure(match: re.Match[str]) -> int | None:
    """The minutes between the two times; null for impossible ones."""
    first, second = (int(match[name]) * _HOUR + int(match[f"{name}_minute"] or 0) for name in ("first", "second_hour"))
    marks = [_MARKS.get((match[name] or "").lower().strip()) for name in ("first_unit", "unit")]
    if max(first, second) > _DAY:
        return None
    if marks[1] is not None:
        second = second % _HALF + marks[1]
        own = marks[0] if marks[0] is not None else _MARKS.get(_find_first_unit(match), 0)
        first = first % _HALF + own
    elif first >= second and max(first, second) <= _HALF + _HOUR:
        second += _HALF
    return second - first if 0 < second - first <= _HALF else None


def _find_first_unit(match: re.Match[str]) -> str:
    """The unit of the first time, which only the second one has: the "pm" of "2 to 4pm", and "am" of "11 to 1pm"."""
    unit = match["unit"].lower()
    is_earlier_half = _MARKS.get(unit) == _HALF and int(match["first"]) % 12 > int(match["second_hour"]) % 12
    return "am" if is_earlier_half else unit


@lru_cache(maxsize=16)
def _compile_range(language: Language) -> re.Pattern[str]:
    def join(name: str) -> str:
        words = language.calendar[name]
        return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))

    clock = r"(?P<{0}>[01]?\d|2[0-4])(?:[:.](?P<{0}_minute>[0-5]\d))?"
    units = join("range_units")
    second = clock.format("second_hour")
    return re.compile(
        rf"(?<![\w.,:/-])(?:(?P<lead>{join('range_starts')})\s+)?{clock.format('first')}\s*(?P<first_unit>{units})?"
        rf"(?P<joint>\s*(?:-|–|\b(?:{join('range_ends')})\b)\s*)(?P<second>{second})\s*(?P<unit>{units})(?!\w)",
        re.IGNORECASE,
    )
