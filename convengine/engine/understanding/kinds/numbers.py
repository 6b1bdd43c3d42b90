"""Numbers and sums of money as people say them: "twelve", "a dozen", "1.5k", "1.200,50 €"."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise, product

from convengine.engine.understanding.field import FieldSpec, Kind
from convengine.engine.understanding.grammar import Chart, GrammarPhrase
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
from convengine.engine.understanding.span import RefusalReason, Resolved, Situation, Sort, Span, choose_among, refuse
from convengine.json_value import Json

#: How many of the unit that a field is in one of the other unit is.
_CONVERTED: Mapping[str, Mapping[str, Decimal]] = {
    "month": {"year": Decimal(12)},
    "year": {"month": 1 / Decimal(12)},
    "week": {"day": 1 / Decimal(7), "fortnight": Decimal(2)},
    "day": {"week": Decimal(7), "fortnight": Decimal(14)},
    "night": {"week": Decimal(7), "fortnight": Decimal(14)},
    "hour": {"minute": 1 / Decimal(60)},
    "minute": {"hour": Decimal(60)},
    "kilometre": {"metre": 1 / Decimal(1000)},
    "metre": {"kilometre": Decimal(1000), "centimetre": 1 / Decimal(100), "millimetre": 1 / Decimal(1000)},
    "centimetre": {"metre": Decimal(100), "millimetre": 1 / Decimal(10)},
    "millimetre": {"metre": Decimal(1000), "centimetre": Decimal(10)},
    "tonne": {"kilogram": 1 / Decimal(1000)},
    "kilogram": {"tonne": Decimal(1000), "gram": 1 / Decimal(1000)},
    "gram": {"kilogram": Decimal(1000)},
}
#: The smaller unit of a number behind one of these units, and how many of it there are: "2 kilos 300", "1 m 80".
_PARTS: Mapping[str, tuple[str, Decimal]] = {
    "kilogram": ("gram", Decimal(1000)),
    "metre": ("centimetre", Decimal(100)),
    "foot": ("inch", Decimal(12)),
    "stone": ("pound", Decimal(14)),
    "pound": ("ounce", Decimal(16)),
}
#: Units that others are converted to without a rest.
_DECIMAL = frozenset({"kilometre", "metre", "centimetre", "millimetre", "tonne", "kilogram", "gram"})
_HUNDRED, _THOUSAND = 100, 1000
#: The slots behind a currency with the cents of a sum. Fewer without a word for cents may be something else.
_CENTS = ("two_digits", "number_word")
#: The slots with the number of a phrase.
_NUMBERS = ("number_value", "short_sum", "digits", "ordinal_word", "two_digits")
_FEWEST_CENTS = 10
#: The parts of a converted value are rounded to this many digits.
_PLACES = 6


class NumberFinder:
    """Finds numbers (`Sort.NUMBER`), for fields of kind number and money."""

    def find(self, chart: Chart, specs: Sequence[FieldSpec]) -> Sequence[Span]:
        """The phrases for numbers in a message. An article is a number only where there is no other one."""
        phrases = find_phrases(chart, Sort.NUMBER)
        whole = [span for span in phrases if not (_is_part(chart, span) or _is_pronoun(chart, span))]
        spans = _carry_scales(chart, whole)
        if any(spec.kind in (Kind.DATE, Kind.DATE_TIME) for spec in specs):
            spans = [span for span in spans if span.phrase.means != "ordinal"]  # "The 6th" is a day.
        if holds(Principle.COUNTS):
            spans = bind_counts(chart, [part for span in spans for part in list_counts(chart, span, specs)], specs)
        spans = [_bind_measure(chart, span, specs) for span in spans]
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
            return _add_to_held(spec, values, slots, situation.held.get(spec.name))
        if "currency" in slots or "cent" in slots:
            return _take_money(spec, values, slots, locale, is_meant=is_meant)
        if "measure" in slots:
            return _take_measure(spec, values, slots["measure"], locale, is_meant=is_meant)
        if "part_measure" in slots:
            return _take_parts(spec, values, slots, locale, is_meant=is_meant)
        if (means == "ordinal" or "asked" in slots) and not is_meant:
            return None
        is_counted = "counter" not in slots or _counts(spec, slots, locale, is_meant=is_meant)
        return take_number(spec, values) if is_counted else None


def _add_to_held(spec: FieldSpec, values: Sequence[Decimal], slots: Mapping[str, Json], held: Json) -> Resolved | None:
    """ "Two more" than the field holds. Returns None where it holds no number."""
    if isinstance(held, bool) or not isinstance(held, (int, float)):
        return None
    return take_number(spec, [Decimal(str(held)) + value * slots.get("sign", 1) for value in values])


def _take_heads(phrase: GrammarPhrase, spec: FieldSpec, locale: str) -> Resolved | None:
    """The sum of people, for a field that counts them.

    Returns None for another field, and where a number may be read in two ways.
    """
    heads = [(read_values(value, locale), counter) for value, counter in read_heads(phrase.slots["heads"])]
    if not counts_heads(spec, get_tables(locale).grammar) or any(len(values) != 1 for values, _ in heads):
        return None
    resolved = take_number(spec, [sum((values[0] for values, _ in heads), Decimal(0))])
    return replace(resolved, supplied=frozenset({"sum"})) if resolved.is_value else resolved


def _is_pronoun(chart: Chart, span: Span) -> bool:
    """True for the "one" of "another one", "the cheap one" and "one that leaves later"."""
    last = span.end - 1
    before = last > 0 and bool(chart.match("before_one", last - 1))
    return bool(chart.match("pronoun_one", last)) and (before or bool(chart.match("behind_one", span.end)))


def _is_article(chart: Chart, span: Span) -> bool:
    return span.end - span.start == 1 and bool(chart.match("one_thing", span.start))


def _mark_parts(spans: Sequence[Span]) -> Sequence[Span]:
    """The "2 adults" of "2 adults and 2 kids" are not all of the guests."""
    if sum(span.phrase.means == "counted" for span in spans) < 2:
        return spans
    return [
        replace(span, phrase=GrammarPhrase("counted", {**span.phrase.slots, "is_part": True}))
        if span.phrase.means == "counted"
        else span
        for span in spans
    ]


def _bind_measure(chart: Chart, span: Span, specs: Sequence[FieldSpec]) -> Span:
    """The "5 nights" of "8 people for 5 nights", for the only field that counts nights."""
    unit = span.phrase.slots.get("measure")
    if unit is None or span.field:
        return span
    owners = [
        spec.name for spec in specs if unit in list_names((*spec.words, *spec.question), chart.grammar, "measure")
    ]
    return replace(span, field=owners[0]) if len(owners) == 1 else span


def _carry_scales(chart: Chart, spans: Sequence[Span]) -> list[Span]:
    """The spans; the 1.2 of "1.5 million, no 1.2" may be millions, too."""
    carried = list(spans)
    for number, (early, late) in enumerate(pairwise(spans), start=1):
        first, second = (span.phrase.slots.get("number_value") for span in (early, late))
        if not _has_scale(first) or not isinstance(second, str) or late.phrase.means != "number":
            continue
        if _is_corrected(chart, early.end, late.start):
            value = GrammarPhrase("composed", {"number": second, "scale": int(_find_scale(first))})
            slots = {**late.phrase.slots, "number_value": value, "doubtful": True}
            carried[number] = replace(late, phrase=GrammarPhrase(late.phrase.means, slots))
    return carried


def _is_corrected(chart: Chart, start: int, end: int) -> bool:
    """True for words of correction between two values, and nothing else."""
    at = start
    while at < end:
        ends = [match.end for name in ("correction", "opening") if (match := chart.match_longest(name, at))]
        if not ends and not chart.words[at].is_sign:
            return False
        at = max(ends, default=at + 1)
    return at == end


def _is_part(chart: Chart, span: Span) -> bool:
    """True for the "-5" of "A-5", and for each "one" of "one oh one", which is not read as a whole."""
    first, behind = chart.words[span.start], chart.match("spoken_digit", span.end)
    before = chart.match("spoken_digit", span.start - 1) if span.start else ()
    if span.is_weak and (behind or any(match.end == span.start for match in before)):
        return True
    return first.key == "-" and first.is_glued and not chart.words[span.start - 1].is_sign


def _read_numbers(slots: Mapping[str, Json], locale: str) -> tuple[Decimal, ...]:
    """The numbers of a phrase; two of "2-3" and of "1-2k", where both are thousands."""
    if "number_value_2" not in slots:
        name = next((name for name in _NUMBERS if name in slots), "")
        return read_values(slots[name], locale) if name else ()
    first, second = slots["number_value"], slots["number_value_2"]
    early, late = read_values(first, locale), read_values(second, locale)
    scale = Decimal(1) if _has_scale(first) else _find_scale(second)
    if late and all(number * scale < min(late) for number in early):
        early = tuple(number * scale for number in early)
    return (*early, *late)


def _find_scale(value: Json) -> Decimal:
    """What the last word of a number multiplies: 1000 for "10k"; 1 for a number without such a word."""
    slots = value.slots if isinstance(value, GrammarPhrase) and value.means == "composed" else {}
    scale = Decimal(1)
    for name, item in slots.items():
        scale = scale * Decimal(str(item)) if name.startswith("scale") else Decimal(1)
    return scale


def _has_scale(value: Json) -> bool:
    """True for a number with a word that multiplies."""
    if not isinstance(value, GrammarPhrase):
        return False
    return any(name.startswith("scale") or _has_scale(item) for name, item in value.slots.items())


def read_values(value: Json, locale: str) -> tuple[Decimal, ...]:
    """The numbers that a phrase may mean: "1.200" is 1200 or 1.2 where the locale does not say. Empty for none."""
    if isinstance(value, str):
        return _read_numeral(value, locale)
    if not isinstance(value, GrammarPhrase):
        return (Decimal(str(value)),)
    if value.means == "negative":
        return tuple(-number for item in value.slots.values() for number in read_values(item, locale))
    parts = list(_list_parts(value, locale))
    sums = (_add_up([is_scale for is_scale, _ in parts], numbers) for numbers in product(*(item for _, item in parts)))
    return tuple(number for number in sums if number is not None)


def _list_parts(phrase: GrammarPhrase, locale: str) -> Iterator[tuple[bool, tuple[Decimal, ...]]]:
    """The numbers and scales of a sum in their order. True for a scale."""
    for slot, value in phrase.slots.items():
        if isinstance(value, GrammarPhrase):
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
            if total and not group and last_scale.is_infinite():  # "1200K"
                total, group = Decimal(0), total
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
        return refuse(RefusalReason.NOT_WHOLE, value=to_json(values[0]))
    allowed = [to_json(value) for value in whole if is_allowed(spec, to_json(value))]
    if not allowed:
        bounds = {
            "min": spec.above if spec.minimum is None else spec.minimum,
            "max": spec.below if spec.maximum is None else spec.maximum,
        }
        named = {key: item for key, item in bounds.items() if item is not None}
        return refuse(RefusalReason.OUT_OF_BOUNDS, value=to_json(whole[0]), **named)
    return choose_among(allowed)


def is_allowed(spec: FieldSpec, value: Json) -> bool:
    return (
        (not isinstance(spec.minimum, (int, float)) or value >= spec.minimum)
        and (not isinstance(spec.maximum, (int, float)) or value <= spec.maximum)
        and (spec.above is None or value > spec.above)
        and (spec.below is None or value < spec.below)
    )


def to_json(value: Decimal) -> int | float:
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
        return refuse(RefusalReason.WRONG_UNIT, unit=codes[0], expected=own)
    if not own and spec.kind is not Kind.MONEY and not list_named(spec, "sum_word", locale):
        return refuse(RefusalReason.WRONG_UNIT, unit=codes[0]) if is_meant else None
    if "currency" not in slots:
        return take_number(spec, [value / _HUNDRED for value in values])
    cents = _HUNDRED * Decimal(str(slots.get("fraction", 0)))
    cents = next((Decimal(slots[name]) for name in _CENTS if name in slots), cents)
    # "Five dollars two" may be two of something.
    whole = values if "cent" not in slots and 0 < cents < _FEWEST_CENTS else ()
    return take_number(spec, [*whole, *(value + cents / _HUNDRED for value in values)])


def _take_parts(
    spec: FieldSpec, values: Sequence[Decimal], slots: Mapping[str, Json], locale: str, *, is_meant: bool
) -> Resolved | None:
    """A number with its unit, and with one of a smaller unit behind it: "2 kilos 300", "5 foot 11"."""
    unit = slots["part_measure"]
    second = slots.get("number_value_2", slots.get("two_digits"))
    if second is None:
        return _take_measure(spec, values, unit, locale, is_meant=is_meant)
    smaller, count = _PARTS[unit]
    whole, part = read_values(slots["number_value"], locale), read_values(second, locale)
    if slots.get("measure_2", smaller) != smaller or len(whole) != 1 or len(part) != 1:
        return refuse(RefusalReason.WRONG_UNIT, unit=unit) if is_meant else None
    return _take_measure(spec, [whole[0] + part[0] / count], unit, locale, is_meant=is_meant)


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
        if factor >= 1 or unit in _DECIMAL or all(value == int(value) for value in converted):
            return take_number(spec, converted)
    if not is_meant:
        return None
    expected = spec.currency or next(iter(sorted(units)), "")
    return refuse(RefusalReason.WRONG_UNIT, unit=unit, **({"expected": expected} if expected else {}))


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
