"""Lengths of time as people say them: "two weeks", "90 minutes", "half an hour", stored as ISO 8601."""

from collections.abc import Sequence

from convengine.engine.understanding.field import FieldSpec
from convengine.engine.understanding.grammar import Chart, GrammarPhrase
from convengine.engine.understanding.kinds.find import find_phrases, is_range
from convengine.engine.understanding.span import RefusalReason, Resolved, Situation, Sort, Span, accept, refuse
from convengine.json_value import Json

#: A length as unit and number, the largest unit first.
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


class LengthFinder:
    """Finds lengths of time (`Sort.LENGTH`), for fields of kind duration."""

    def find(self, chart: Chart, specs: Sequence[FieldSpec]) -> Sequence[Span]:
        """The phrases for lengths in a message, and of numbers alone for a field that asks for one.

        Of "2-3 days", the last one is a length; the first has its unit (`pairs`).
        """
        spans = [*find_phrases(chart, Sort.LENGTH)]
        for at in range(2, len(chart.words)):
            match = chart.match_longest(Sort.LENGTH, at) if is_range(chart.words, at - 2) else None
            if match is not None and match.value.means != "bare":
                spans.append(Span(Sort.LENGTH, at, match.end, match.value))
        return spans

    def resolve(self, span: Span, spec: FieldSpec, situation: Situation, *, is_meant: bool) -> Resolved | None:
        """The length within the bounds of a field.

        Returns None for one that is not exact, and for a number alone unless the field was asked for or is named.
        """
        if span.phrase.means == "bare":
            return refuse(RefusalReason.UNIT_MISSING, number=span.phrase.slots["amount"]) if is_meant else None
        parts = read_parts(span.phrase)
        return take_length(spec, parts) if parts else None


def take_length(spec: FieldSpec, parts: Parts) -> Resolved:
    """A length within the bounds of its field; a refusal for another one."""
    value, length = format_iso(parts), count_seconds(parts)
    first, last = (_read_bound(bound) for bound in (spec.minimum, spec.maximum))
    if (first is not None and length < first) or (last is not None and length > last):
        bounds = {"min": spec.minimum, "max": spec.maximum}
        return refuse(RefusalReason.OUT_OF_BOUNDS, value=value, **{key: item for key, item in bounds.items() if item})
    return accept(value)


def _read_bound(bound: Json) -> int | None:
    parts = parse_duration(bound.strip().upper()) if isinstance(bound, str) else None
    return count_seconds(parts) if parts else None


def read_parts(phrase: GrammarPhrase) -> Parts:
    """The units and numbers of a phrase. Empty if the length is not exact, or if its units do not become smaller."""
    slots = phrase.slots
    if phrase.means == "half":
        return _split_fraction(slots.get("count", slots.get("half_count", 0)) + 0.5, slots["any_unit"])
    if phrase.means == "quarters":
        return _split_fraction(slots["quarters"] / 4, slots.get("any_unit", "hour"))
    named = [(slots["amount"], slots.get("any_unit") or slots["time_unit"])]
    named += [(slots["minutes_of"], "minute")] if "minutes_of" in slots else []
    named += [(slots[f"amount_{n}"], slots[f"any_unit_{n}"]) for n in (2, 3) if f"amount_{n}" in slots]
    parts: Parts = {}
    for number, unit in named:
        split = _split_fraction(float(number), unit)
        if not parts.keys().isdisjoint(split):
            return {}
        parts |= split
    return parts if list(parts) == sorted(parts, key=_ORDER.index) else {}


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
    """The parts of an ISO 8601 duration. Returns None for another text."""
    if not text.startswith("P") or text.endswith(("P", "T")):
        return None
    parts: Parts = {}
    days, _, times = text[1:].partition("T")
    for part, units in ((days, _ORDER[:4]), (times, _ORDER[4:])):
        letters, number = {_LETTERS[unit]: unit for unit in units}, ""
        for char in part:
            if char.isdecimal():
                number += char
            elif number and char in letters:
                parts[letters[char]], number = int(number), ""
            else:
                return None
        if number:
            return None
    return parts or None


def format_iso(parts: Parts) -> str:
    days = "".join(f"{parts[unit]}{_LETTERS[unit]}" for unit in _ORDER[:4] if unit in parts)
    times = "".join(f"{parts[unit]}{_LETTERS[unit]}" for unit in _ORDER[4:] if unit in parts)
    return f"P{days}{'T' + times if times else ''}"


def count_seconds(parts: Parts) -> int:
    """The length in seconds, with months of 30 days and years of 365."""
    return sum(number * _SECONDS[unit] for unit, number in parts.items())
