"""Numbers and sums of money as people say them: "twelve", "a dozen", "1.5k", "1.200,50 €"."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import product

from convengine.engine.understanding.field import FieldSpec, Kind
from convengine.engine.understanding.grammar import Chart, Match, Phrase
from convengine.engine.understanding.kinds.find import find_phrases
from convengine.engine.understanding.kinds.heads import (
    PERSON,
    bind_counts,
    counts_heads,
    list_counts,
    list_names,
    read_heads,
)
from convengine.engine.understanding.language import find_country, get_countries, get_tables
from convengine.engine.understanding.principles import Principle, holds
from convengine.engine.understanding.span import Reason, Resolved, Situation, Sort, Span, choose_among, refuse
from convengine.json_value import Json

#: How many of the unit that a field counts one of the other unit is.
_CONVERTED: Mapping[str, Mapping[str, Decimal]] = {
    "month": {"year": Decimal(12)},
    "year": {"month": 1 / Decimal(12)},
    "week": {"day": 1 / Decimal(7), "fortnight": Decimal(2)},
    "day": {"week": Decimal(7), "fortnight": Decimal(14)},
    "night": {"week": Decimal(7), "fortnight": Decimal(14)},
    "hour": {"minute": 1 / Decimal(60)},
    "minute": {"hour": Decimal(60)},
}
_HUNDRED, _THOUSAND = 100, 1000
#: The slots behind a currency with the cents of a sum. Fewer without a word for cents may be something else.
_CENTS = ("two_digits", "number_word")
_FEWEST_CENTS = 10
#: The parts of a converted value are rounded to this many digits.
_PLACES = 6


class NumberFinder:
    """Finds numbers (`Sort.NUMBER`), for fields of kind number and money."""

    def find(self, chart: Chart, specs: Sequence[FieldSpec]) -> Sequence[Span]:
        """The phrases for numbers in a message. An article is a number only where there is no other one."""
        spans = [span for span in find_phrases(chart, Sort.NUMBER) if not _is_part(chart, span)]
        if any(spec.kind in (Kind.DATE, Kind.DATE_TIME) for spec in specs):
            spans = [span for span in spans if span.phrase.means != "ordinal"]  # "The 6th" is a day.
        if holds(Principle.COUNTS):
            spans = bind_counts(chart, [part for span in spans for part in list_counts(chart, span, specs)], specs)
        return _mark_parts([span for span in spans if not _is_article(chart, span)]) or spans

    def resolve(self, span: Span, spec: FieldSpec, situation: Situation, *, is_meant: bool) -> Resolved | None:
        """The number within the bounds of a field.

        Returns None for a number that counts or measures something else. An ordinal counts only for a field that was
        asked for or is named, and "two more" only for one that holds a number.
        """
        means, slots, locale = span.phrase.means, span.phrase.slots, situation.locale
        if means == "heads":
            return _take_heads(span.phrase, spec, locale)
        values = _read_numbers(slots, locale)
        if not values:
            return None
        if means == "more":
            held = situation.held.get(spec.name)
            if isinstance(held, bool) or not isinstance(held, (int, float)):
                return None
            return take_number(spec, [Decimal(str(held)) + value * slots.get("sign", 1) for value in values])
        if "currency" in slots or "cent" in slots:
            return _take_money(spec, values, slots, locale, is_meant=is_meant)
        if "measure" in slots:
            return _take_measure(spec, values, slots["measure"], locale, is_meant=is_meant)
        if (means == "ordinal" or "asked" in slots) and not is_meant:
            return None
        is_counted = "counter" not in slots or _counts(spec, slots, locale, is_meant=is_meant)
        return take_number(spec, values) if is_counted else None


def _take_heads(phrase: Phrase, spec: FieldSpec, locale: str) -> Resolved | None:
    """The sum of people, for a field that counts them.

    Returns None for another field, and where a number may be read in two ways.
    """
    heads = [(read_values(value, locale), counter) for value, counter in read_heads(phrase.slots["heads"])]
    if not counts_heads(spec, get_tables(locale).grammar) or any(len(values) != 1 for values, _ in heads):
        return None
    resolved = take_number(spec, [sum((values[0] for values, _ in heads), Decimal(0))])
    return replace(resolved, supplied=frozenset({"sum"})) if resolved.is_value else resolved


def _is_article(chart: Chart, span: Span) -> bool:
    return span.end - span.start == 1 and bool(chart.match("one_thing", span.start))


def _mark_parts(spans: Sequence[Span]) -> Sequence[Span]:
    """The "2 adults" of "2 adults and 2 kids" are not all of the guests."""
    if sum(span.phrase.means == "counted" for span in spans) < 2:
        return spans
    return [
        replace(span, phrase=Phrase("counted", {**span.phrase.slots, "is_part": True}))
        if span.phrase.means == "counted"
        else span
        for span in spans
    ]


def _is_part(chart: Chart, span: Span) -> bool:
    """True for the "-5" of "A-5", and for each "one" of "one oh one", which is not read as a whole."""
    first, behind = chart.words[span.start], chart.match("spoken_digit", span.end)
    if span.is_weak and (behind or any(match.end == span.start for match in _list_spoken_before(chart, span.start))):
        return True
    return first.key == "-" and first.is_glued and not chart.words[span.start - 1].is_sign


def _list_spoken_before(chart: Chart, start: int) -> Sequence[Match]:
    """The digits in words from the word before on."""
    return chart.match("spoken_digit", start - 1) if start else ()


def _read_numbers(slots: Mapping[str, Json], locale: str) -> tuple[Decimal, ...]:
    """The numbers of a phrase; two of "2-3"."""
    names = ("number_value", "number_value_2") if "number_value" in slots else ("ordinal_word", "two_digits")
    return tuple(number for name in names if name in slots for number in read_values(slots[name], locale))


def read_values(value: Json, locale: str) -> tuple[Decimal, ...]:
    """The numbers that a phrase may mean: "1.200" is 1200 or 1.2 where the locale does not say. Empty for none."""
    if isinstance(value, str):
        return _read_numeral(value, locale)
    if not isinstance(value, Phrase):
        return (Decimal(str(value)),)
    if value.means == "negative":
        return tuple(-number for item in value.slots.values() for number in read_values(item, locale))
    parts = list(_list_parts(value, locale))
    sums = (_add_up([is_scale for is_scale, _ in parts], numbers) for numbers in product(*(item for _, item in parts)))
    return tuple(number for number in sums if number is not None)


def _list_parts(phrase: Phrase, locale: str) -> Iterator[tuple[bool, tuple[Decimal, ...]]]:
    """The numbers and scales of a sum in their order. True for a scale."""
    for slot, value in phrase.slots.items():
        if isinstance(value, Phrase):
            yield from _list_parts(value, locale)
        else:
            yield slot.startswith("scale"), read_values(value, locale)


def _add_up(are_scales: Sequence[bool], numbers: Sequence[Decimal]) -> Decimal | None:
    """ "Two hundred and fifty thousand". Returns None for what is several numbers: "two hundred and three hundred"."""
    total, group, last_scale = Decimal(0), Decimal(0), Decimal("Infinity")
    for is_scale, number in zip(are_scales, numbers, strict=True):
        if not is_scale:
            total, group = (total + number, group) if number >= _THOUSAND else (total, group + number)
        elif number < _THOUSAND:
            if group >= _HUNDRED:
                return None
            group = (group or 1) * number
        else:
            if number >= last_scale:
                return None
            total, group, last_scale = total + (group or 1) * number, Decimal(0), number
    return total + group


def _read_numeral(text: str, locale: str) -> tuple[Decimal, ...]:
    """Digits with their signs: `1.200,50`. One sign before three digits may be of both kinds."""
    digits = text.replace(" ", "")
    signs = [char for char in digits if char in ".,"]
    if not signs:
        return (Decimal(digits),)
    last = max(digits.rfind("."), digits.rfind(","))
    as_decimal = Decimal(digits[:last].replace(".", "").replace(",", "") + "." + digits[last + 1 :])
    if len(set(signs)) == 2 or len(digits) - last - 1 != 3:
        return (as_decimal,)
    grouped = Decimal(digits.replace(".", "").replace(",", ""))
    if len(signs) > 1:
        return (grouped,)
    return (as_decimal, grouped) if signs[0] == find_decimal_sign(locale) else (grouped,)


def find_decimal_sign(locale: str) -> str:
    """The sign before decimals, as the country of the locale or its language writes it."""
    country = get_countries().get(find_country(locale), {})
    return str(country.get("decimal") or get_tables(locale).say.get("decimal", "."))


def take_number(spec: FieldSpec, values: Sequence[Decimal]) -> Resolved:
    """The numbers that a field takes; why it takes none."""
    whole = [value for value in values if spec.json_type != "integer" or value == int(value)]
    if not whole:
        return refuse(Reason.NOT_WHOLE, value=to_json(values[0]))
    allowed = [to_json(value) for value in whole if is_allowed(spec, to_json(value))]
    if not allowed:
        bounds = {
            "min": spec.above if spec.minimum is None else spec.minimum,
            "max": spec.below if spec.maximum is None else spec.maximum,
        }
        named = {key: item for key, item in bounds.items() if item is not None}
        return refuse(Reason.OUT_OF_BOUNDS, value=to_json(whole[0]), **named)
    return choose_among(allowed)


def is_allowed(spec: FieldSpec, value: Json) -> bool:
    """True within the bounds of a number field."""
    return (
        (not isinstance(spec.minimum, (int, float)) or value >= spec.minimum)
        and (not isinstance(spec.maximum, (int, float)) or value <= spec.maximum)
        and (spec.above is None or value > spec.above)
        and (spec.below is None or value < spec.below)
    )


def to_json(value: Decimal) -> int | float:
    """A number as JSON has it."""
    return int(value) if value == value.to_integral_value() else float(value)


def _take_money(
    spec: FieldSpec, values: Sequence[Decimal], slots: Mapping[str, Json], locale: str, *, is_meant: bool
) -> Resolved | None:
    """A sum in the currency of the field, else of the locale's country. A number whose name means money takes any.

    Another currency is refused. Returns None for a number that is no money, unless it was asked for or is named.
    """
    codes = str(slots.get("currency") or slots["cent"]).split()
    country = get_countries().get(find_country(locale), {})
    own = spec.currency or (str(country.get("currency", "")) if spec.kind is Kind.MONEY else "")
    if own and own not in codes:
        return refuse(Reason.WRONG_UNIT, unit=codes[0], expected=own)
    if not own and spec.kind is not Kind.MONEY and not list_named(spec, "sum_word", locale):
        return refuse(Reason.WRONG_UNIT, unit=codes[0]) if is_meant else None
    if "currency" not in slots:
        return take_number(spec, [value / _HUNDRED for value in values])
    cents = next((Decimal(slots[name]) for name in _CENTS if name in slots), Decimal(0))
    # "Five dollars two" may be two of something.
    whole = values if "cent" not in slots and 0 < cents < _FEWEST_CENTS else ()
    return take_number(spec, [*whole, *(value + cents / _HUNDRED for value in values)])


def _take_measure(
    spec: FieldSpec, values: Sequence[Decimal], unit: str, locale: str, *, is_meant: bool
) -> Resolved | None:
    """A number with its unit, converted where that is exact.

    Another unit than the field's is refused. Returns None for it unless the field was asked for or is named.
    """
    units = list_named(spec, "measure", locale)
    if unit in units:
        return take_number(spec, values)
    factor = next((factors[unit] for own in units if unit in (factors := _CONVERTED.get(own, {}))), None)
    if factor is not None:
        converted = [round(value * factor, _PLACES) for value in values]
        if factor >= 1 or all(value == int(value) for value in converted):
            return take_number(spec, converted)
    if not is_meant:
        return None
    expected = spec.currency or next(iter(sorted(units)), "")
    return refuse(Reason.WRONG_UNIT, unit=unit, **({"expected": expected} if expected else {}))


def _counts(spec: FieldSpec, slots: Mapping[str, Json], locale: str, *, is_meant: bool) -> bool:
    """True where a field counts such people or things, or is asked for and names nothing else that it counts."""
    named = list_named(spec, "counter", locale)
    whole, _, part = str(slots["counter"]).rpartition(" ")
    if part in named or (is_meant and "hour" in slots):
        return True
    if part == "child" and not is_meant:
        return False  # There are others with them.
    if PERSON in (whole, part) and "is_part" not in slots and counts_heads(spec, get_tables(locale).grammar):
        return True
    return is_meant and spec.kind is not Kind.MONEY and not (named or list_named(spec, "measure", locale))


def list_named(spec: FieldSpec, class_name: str, locale: str) -> set[str]:
    """The units or counters of a class that the words of a field and of its question name."""
    return list_names((*spec.words, *spec.question), get_tables(locale).grammar, class_name)
