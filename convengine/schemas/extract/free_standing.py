"""Values that need no name beside them: patterns, choices, formats, numbers with their units (R10)."""

import re
from collections.abc import Collection, Iterator, Sequence

from convengine.rules.patterns import Match, Pattern, PatternError, compile_pattern
from convengine.schemas.choices import Spelling, key_of
from convengine.schemas.extract.candidate import ENUM, FORMAT, NUMBER, PATTERN, SYNONYM, UNIT, X_EXTRACT, Candidate
from convengine.schemas.extract.language import BEFORE_NUMBER, BEFORE_ONLY_NUMBER, VAGUE
from convengine.schemas.extract.reading import Reading
from convengine.schemas.extract.typed import choices_in, counted, formatted
from convengine.schemas.extract.units import (
    Counted,
    counted_in,
    numeric,
    takes_bare_numbers,
    takes_money,
    units_of,
)
from convengine.schemas.extract.unmeant import bounded
from convengine.schemas.form import Field, Form
from convengine.schemas.formats import telling
from convengine.schemas.values import cleaned, convert

#: Formats whose finds are never a date or a phone number.
_STRONGER = {"phone": ("uri", "email", "uuid", "date-time", "date"), "date": ("uri", "email", "uuid")}
#: A bare number of more digits is an id or a phone number: for sums of money, and for counts.
_LONGEST = 9
_LONGEST_COUNT = 4
_TOKEN = re.compile(r"[^\s,;!?()\"']+")
#: Stands where no pattern may read: neither a letter nor a digit, a blank or a mark.
_MASK = "\N{OBJECT REPLACEMENT CHARACTER}"


def by_pattern(reading: Reading, form: Form, fields: Sequence[Field]) -> Iterator[Candidate]:
    """What the `x-extract` patterns of a field capture; the first pattern that finds something decides."""
    for field in fields:
        for text in field.texts("x-extract"):
            found = list(_captured(reading, form, field, text))
            yield from found
            if found:
                break


def _captured(reading: Reading, form: Form, field: Field, text: str) -> Iterator[Candidate]:
    try:
        pattern = compile_pattern(text)
    except PatternError:
        return  # The editor is told at save.
    named = pattern.group_number("value")
    for match in _whole_finds(reading, pattern, field):
        group = named or (1 if match.groups() else 0)
        said = match.group(group)
        if said and said.strip():
            found = convert(cleaned(said), field, form)
            # Where the value stands, not the words that lead to it: what denies it may be one of those.
            start, end = (reading.place(place) for place in match.span(group))
            yield Candidate(
                field, start, end, found.value if found.value is not None else said, X_EXTRACT, found.problem
            )


def _whole_finds(reading: Reading, pattern: Pattern, field: Field) -> list[Match]:
    """What a pattern finds without cutting a date, a phone number or an address in two: "2027 to 7 Harbour Road"."""
    text = reading.original
    solid = [reading.span(*match.span()) for name, match in reading.solid if name not in (field.format, *_own(pattern))]
    while True:
        found = list(pattern.occurrences(text))
        cut = [(first, last) for first, last in solid if any(_cuts(match.span(), first, last) for match in found)]
        if not cut:
            return found
        for first, last in cut:
            text = text[:first] + _MASK * (last - first) + text[last:]
        solid = [span for span in solid if span not in cut]


def _own(pattern: Pattern) -> tuple[str, ...]:
    """A pattern with an "@" is written for parts of e-mail addresses."""
    return ("email",) if "@" in pattern.text else ()


def _cuts(find: tuple[int, int], first: int, last: int) -> bool:
    return find[0] < last and first < find[1] and not (find[0] <= first and last <= find[1])


def by_choice(reading: Reading, fields: Sequence[Field]) -> Iterator[Candidate]:
    """Choices and synonyms, wherever they are said; general words and short ones are none."""
    for field in fields:
        for match, spelling in choices_in(reading, field):
            if _tells(reading, match, spelling) and not reading.inside(*match.span()):
                own = isinstance(spelling.value, str) and key_of(spelling.value) == spelling.key
                yield Candidate(field, *match.span(), spelling.value, ENUM if own else SYNONYM)


def _tells(reading: Reading, match: re.Match[str], spelling: Spelling) -> bool:
    if all(word in VAGUE or word.isdigit() for word in spelling.key.split()):
        return False
    if len(spelling.key) > 2:
        return True
    if len(spelling.key) < 2:
        return False
    alone = key_of(cleaned(reading.original)) == spelling.key
    return alone or (not reading.shouting and reading.said(*match.span()) == spelling.text)


def by_format(reading: Reading, fields: Sequence[Field]) -> Iterator[Candidate]:
    """E-mail addresses, dates, web addresses, ids, phone numbers. A phone number must look like one."""
    for field in fields:
        for match in reading.formats.get(field.format or "", ()):
            if field.format == "phone" and not telling(match.group()):
                continue
            if not _stronger(reading, field.format or "", match):
                value, end, problem = formatted(reading, field, *match.span())
                yield Candidate(field, match.start(), end, value, FORMAT, problem)


def _stronger(reading: Reading, name: str, match: re.Match[str]) -> bool:
    return any(
        other.start() < match.end() and match.start() < other.end()
        for stronger in _STRONGER.get(name, ())
        for other in reading.formats[stronger]
    )


def shaped(fields: Sequence[Field]) -> list[Field]:
    """The fields whose `pattern` covers the whole value."""
    return [
        field
        for field in fields
        if isinstance(shape := field.declared.get("pattern"), str) and shape.startswith("^") and shape.endswith("$")
    ]


def by_shape(reading: Reading, fields: Sequence[Field]) -> Iterator[Candidate]:
    """Words of letters and digits that wholly fit the `pattern` of a field: "ORD-2291"."""
    for field in shaped(fields):
        shape = field.declared["pattern"]
        for match in _TOKEN.finditer(reading.text):
            end = match.start() + len(match.group().rstrip("."))
            said = reading.said(match.start(), end)
            if any(c.isalpha() for c in said) and any(c.isdigit() for c in said) and _fits(shape, said):
                yield Candidate(field, match.start(), end, said, PATTERN)


def _fits(shape: str, said: str) -> bool:
    try:
        return compile_pattern(shape, ignore_case=False).found(said)
    except PatternError:
        return False


def by_unit(reading: Reading, fields: Sequence[Field]) -> Iterator[Candidate]:
    """Numbers with the unit of a field behind them: "24 months", "two tickets"."""
    for found in counted_in(reading):
        for field in fields:
            counts = numeric(field) and found.unit in units_of(field)
            if counts and not bounded(reading, field, found.start, found.unit_end):
                yield from _candidates(field, found, UNIT)


def by_number(
    reading: Reading, fields: Sequence[Field], claimed: Collection[str], shapes: Sequence[Field]
) -> Iterator[Candidate]:
    """Bare numbers, for amounts and counts. Where one may be meant, every other one raises doubt.

    `claimed`: the number fields that this message gives a value by name or unit. `shapes`: fields with a pattern, whose
    values may look like numbers.
    """
    bare = [found for found in counted_in(reading) if found.unit is None]
    bare = [found for found in bare if not any(_fits(one.declared["pattern"], found.number.digits) for one in shapes)]
    left = [field for field in fields if numeric(field) and field.path not in claimed]
    for field in left:
        meant = {
            one.start
            for one in bare
            if takes_bare_numbers(field) and _may_be(reading, field, one, alone=left == [field], rest=bool(claimed))
        }
        for found in bare if meant else ():
            if found.start in meant or not found.in_words:
                yield from _candidates(field, found, NUMBER)


def _candidates(field: Field, found: Counted, by: str) -> Iterator[Candidate]:
    if value := counted(field, found):
        core = (found.number.core[0], max(found.number.core[1], value[1] if by == UNIT else 0))
        yield Candidate(field, found.start, value[1], value[0], by, value[2], core=core)


def _may_be(reading: Reading, field: Field, found: Counted, *, alone: bool, rest: bool) -> bool:
    """`alone`: no other field is left that could be meant. `rest`: the message told the others."""
    if found.number.money:
        return takes_money(field)
    if sum(char.isdigit() for char in found.number.digits) > (_LONGEST if takes_money(field) else _LONGEST_COUNT):
        return False
    before = reading.before(found.start).split()
    if found.in_words and (found.number.value == 1 or not before):
        return False
    if not before:
        return alone and rest
    return before[-1] in (BEFORE_NUMBER | BEFORE_ONLY_NUMBER if alone else BEFORE_NUMBER)
