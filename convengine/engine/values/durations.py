"""Durations as people say them: "two weeks", "90 minutes", "half an hour", stored as ISO 8601 (R114)."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from convengine.engine.values.field_spec import FieldSpec
from convengine.engine.values.language import Language
from convengine.engine.values.numbers import get_tables, list_field_units, match_amount
from convengine.engine.values.reading import NOTHING, Reading, ReadingSituation, Reason, accept, refuse
from convengine.engine.values.tokens import TokenText

Json = Any
#: A duration as unit and number, the largest unit first.
Parts = dict[str, int]
_ORDER = ("year", "month", "week", "day", "hour", "minute", "second")
_LETTERS = {"year": "Y", "month": "M", "week": "W", "day": "D", "hour": "H", "minute": "M", "second": "S"}
#: The smaller unit that a fraction is given in. A part of a month has no length.
_SMALLER = {
    "year": ("month", 12),
    "week": ("day", 7),
    "day": ("hour", 24),
    "hour": ("minute", 60),
    "minute": ("second", 60),
}
_SECONDS = {
    "year": 365 * 86400, "month": 30 * 86400, "week": 7 * 86400, "day": 86400, "hour": 3600, "minute": 60, "second": 1,
}  # fmt: skip
#: The units that a length is given in where a field counts other ones, and how many of these one of them has. A month
#: has no number of days, and a day of work no number of hours.
_CONVERTED: Mapping[str, Mapping[str, float]] = {
    "month": {"year": 12},
    "year": {"month": 1 / 12},
    "week": {"day": 1 / 7},
    "day": {"week": 7},
    "night": {"week": 7},
    "hour": {"minute": 1 / 60},
    "minute": {"hour": 60, "second": 1 / 60},
    "second": {"minute": 60, "hour": 3600},
}
_UNIT_LETTERS = {"hour": ("h",), "minute": ("m",)}
_ISO = re.compile(
    r"P(?:(?P<year>\d+)Y)?(?:(?P<month>\d+)M)?(?:(?P<week>\d+)W)?(?:(?P<day>\d+)D)?"
    r"(?:T(?:(?P<hour>\d+)H)?(?:(?P<minute>\d+)M)?(?:(?P<second>\d+)S)?)?"
)


def read_duration(
    spec: FieldSpec, text: str, tokens: TokenText, situation: ReadingSituation, language: Language
) -> Reading:
    """Read a whole answer for a field of kind duration."""
    if parts := parse_duration(text.strip().upper()):
        return take_duration(spec, parts)
    for start, end in dict.fromkeys([(0, len(tokens.text)), language.strip_fillers(tokens)]):
        begin = start + language.before_time.match_start(tokens.text, start)
        for first in {start: 0, begin: 0}:
            for match_end, parts in match_durations(tokens.text[:end], first, language):
                if match_end == end and parts:
                    return take_duration(spec, parts)
            if reading := _read_bare_number(spec, tokens.text[:end], first, situation, language):
                return reading
    return NOTHING


def match_durations(text: str, start: int, language: Language) -> Iterator[tuple[int, Parts]]:
    """Every phrase for a duration that begins at `start`, with its end."""
    for phrase in language.duration_phrases:
        match = phrase.pattern.match(text, start)
        if match and (parts := _MEANINGS[phrase.means](phrase.read(match))):
            yield match.end(), parts


def _read_bare_number(
    spec: FieldSpec, text: str, start: int, situation: ReadingSituation, language: Language
) -> Reading | None:
    """A number alone counts the unit that the field's name says, if the bot has just asked."""
    tables = get_tables(language)
    amount = match_amount(text, start, tables, situation.locale, spec)
    if not situation.is_asked or amount is None or amount.end != len(text) or amount.unit or amount.currencies:
        return None
    units = [unit for unit in list_field_units(spec, tables) if unit in _SECONDS]
    if len(units) == 1 and len(amount.values) == 1 and (parts := _split_fraction(float(amount.values[0]), units[0])):
        return take_duration(spec, parts)
    return refuse(Reason.UNIT_MISSING, number=float(amount.values[0]))


def read_length(spec: FieldSpec, text: str, start: int, language: Language) -> tuple[int, float] | None:
    """The end and the number of "an hour and a half" for a field that counts hours; null unless its unit is named."""
    tables = get_tables(language)
    own = list_field_units(spec, tables)
    matches = max(match_durations(text, start, language), key=lambda match: match[0], default=None)
    if matches is None or len(own) != 1 or not own <= _SECONDS.keys():
        return None
    end, parts = matches
    unit = next(iter(own))
    is_named = any(
        tables.units.get(word) == unit or word in _UNIT_LETTERS.get(unit, ()) for word in text[start:end].split()
    )
    return (end, count_seconds(parts) / _SECONDS[unit]) if is_named else None


def convert_length(spec: FieldSpec, text: str, start: int, language: Language) -> tuple[int, float] | None:
    """The end and the number of "a year and a half" for a field that counts months: 18; null if it is not exact."""
    own = list_field_units(spec, get_tables(language))
    matches = max(match_durations(text, start, language), key=lambda match: match[0], default=None)
    if matches is None or len(own) != 1:
        return None
    end, parts = matches
    unit = next(iter(own))
    sizes = {unit: 1.0, **_CONVERTED.get(unit, {})}
    if not parts.keys() <= sizes.keys():
        return None
    number = round(sum(count * sizes[part] for part, count in parts.items()), 6)
    return (end, number) if number * 2 % 1 == 0 else None


def take_duration(spec: FieldSpec, parts: Parts) -> Reading:
    """What a field takes of a duration."""
    value = format_iso(parts)
    length = count_seconds(parts)
    first, last = (_read_bound(bound) for bound in (spec.minimum, spec.maximum))
    if (first is not None and length < first) or (last is not None and length > last):
        bounds = {"min": spec.minimum, "max": spec.maximum}
        return refuse(Reason.OUT_OF_BOUNDS, value=value, **{key: item for key, item in bounds.items() if item})
    return accept(value)


def _read_bound(bound: Json) -> int | None:
    parts = parse_duration(bound.strip().upper()) if isinstance(bound, str) else None
    return count_seconds(parts) if parts else None


def _read_amounts(slots: Mapping[str, Json]) -> Parts:
    parts: Parts = {}
    named = [(slots.get("amount", slots.get("number", 0)), slots.get("any_unit", slots.get("unit", "")))]
    if slots.get("minute", 0) > 59:
        return {}
    if "minute" in slots or "minute_word" in slots:
        named.append((slots.get("minute", slots.get("minute_word")), "minute"))
    if "any_unit_2" in slots:
        named.append((slots["number"], slots["any_unit_2"]))
    if "any_unit_3" in slots:
        named.append((slots["number_2"], slots["any_unit_3"]))
    for number, unit in named:
        for smaller, count in _split_fraction(number, unit).items():
            if smaller in parts:
                return {}
            parts[smaller] = count
    return parts if list(parts) == sorted(parts, key=_ORDER.index) else {}


def _read_clock(slots: Mapping[str, Json]) -> Parts:
    return {"hour": int(slots["amount"]), "minute": slots["minute"]} if slots["minute"] < 60 else {}


def _read_half(slots: Mapping[str, Json]) -> Parts:
    whole = slots["number"] if "number" in slots else slots["count"]
    return _split_fraction(whole + 0.5, slots["any_unit"])


def _read_fraction(slots: Mapping[str, Json]) -> Parts:
    return _split_fraction(slots["quarters"] / 4, slots.get("any_unit", slots.get("unit", "hour")))


_MEANINGS = {"amount": _read_amounts, "clock": _read_clock, "half": _read_half, "fraction": _read_fraction}


def _split_fraction(number: float, unit: str) -> Parts:
    """1.5 hours are 1 hour and 30 minutes; empty where that is not exact."""
    if unit == "fortnight":
        number, unit = number * 2, "week"
    whole = int(number)
    parts = {unit: whole} if whole else {}
    rest = number - whole
    if not rest:
        return parts
    if unit not in _SMALLER:
        return {}
    smaller, size = _SMALLER[unit]
    count = rest * size
    if abs(count - round(count)) < 1e-6:
        return {**parts, smaller: round(count)}
    deeper = _split_fraction(count, smaller)
    return {**parts, **deeper} if deeper else {}


def parse_duration(text: str) -> Parts | None:
    """The parts of an ISO 8601 duration; null for another text."""
    match = _ISO.fullmatch(text)
    if match is None or text.endswith(("P", "T")):
        return None
    return {unit: int(number) for unit, number in match.groupdict().items() if number is not None}


def format_iso(parts: Parts) -> str:
    """The parts as an ISO 8601 duration."""
    days = "".join(f"{parts[unit]}{_LETTERS[unit]}" for unit in _ORDER[:4] if unit in parts)
    times = "".join(f"{parts[unit]}{_LETTERS[unit]}" for unit in _ORDER[4:] if unit in parts)
    return f"P{days}{'T' + times if times else ''}"


def count_seconds(parts: Parts) -> int:
    """The length in seconds, with months of 30 days and years of 365."""
    return sum(number * _SECONDS[unit] for unit, number in parts.items())
