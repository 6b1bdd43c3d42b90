"""Unlabelled values: patterns, choices, formats, numbers with units (R10)."""

import re
from collections.abc import Collection, Iterator, Sequence

from convengine.engine.forms.convert import clean_value, convert_value
from convengine.engine.forms.extract.candidate import ENUM, FORMAT, NUMBER, PATTERN, SYNONYM, UNIT, X_EXTRACT, Candidate
from convengine.engine.forms.extract.language import BEFORE_NUMBER, BEFORE_ONLY_NUMBER, VAGUE
from convengine.engine.forms.extract.negated_or_hypothetical import is_bounded
from convengine.engine.forms.extract.reading import Reading
from convengine.engine.forms.extract.typed_values import (
    CountedNumber,
    find_choices,
    find_numbers,
    is_numeric,
    list_units,
    read_counted,
    read_formatted,
    takes_bare_numbers,
    takes_money,
)
from convengine.engine.forms.form import Field, Form
from convengine.engine.forms.spellings import Spelling, build_choice_key
from convengine.engine.rules.patterns import Match, Pattern, PatternError, compile_pattern
from convengine.engine.text.formats import is_evident_phone
from convengine.engine.values.language import get_language, list_languages
from convengine.engine.values.numbers import asks_how_many

#: Formats whose matches are never dates or phone numbers.
_STRONGER = {"phone": ("uri", "email", "uuid", "date-time", "date"), "date": ("uri", "email", "uuid")}
#: Maximum digits of a bare number (for sums, and for counts). Longer ones are ids or phone numbers.
_LONGEST = 9
_LONGEST_COUNT = 4
_TOKEN = re.compile(r"[^\s,;!?()\"']+")
#: Masks text that no pattern may match: no letter, digit, blank or punctuation.
_MASK = "\N{OBJECT REPLACEMENT CHARACTER}"


def read_by_pattern(reading: Reading, form: Form, fields: Sequence[Field]) -> Iterator[Candidate]:
    """Values captured by `x-extract`; the first pattern that matches decides."""
    for field in fields:
        for text in field.texts("x-extract"):
            candidates = list(_capture_values(reading, form, field, text))
            yield from candidates
            if candidates:
                break


def _capture_values(reading: Reading, form: Form, field: Field, text: str) -> Iterator[Candidate]:
    try:
        pattern = compile_pattern(text)
    except PatternError:
        return  # The editor reports it on save.
    named = pattern.group_number("value")
    for match in _find_whole_matches(reading, pattern, field):
        group = named or (1 if match.groups() else 0)
        group_text = match.group(group)
        if group_text and group_text.strip():
            converted = convert_value(clean_value(group_text), field, form)
            # The position of the value without the words before it, because one of those may deny it.
            start, end = (reading.to_text_position(offset) for offset in match.span(group))
            yield Candidate(
                field,
                start,
                end,
                converted.value if converted.value is not None else group_text,
                X_EXTRACT,
                converted.problem,
            )


def _find_whole_matches(reading: Reading, pattern: Pattern, field: Field) -> list[Match]:
    """Matches that do not cut a date, a phone number or an address: "2027 to 7 Harbour Road"."""
    text = reading.original
    solid = [
        reading.span(*match.span())
        for name, match in reading.solid
        if name not in (field.format, *_list_own_formats(pattern))
    ]
    while True:
        matches = list(pattern.occurrences(text))
        cut = [
            (first, last) for first, last in solid if any(_cuts_match(match.span(), first, last) for match in matches)
        ]
        if not cut:
            return matches
        for first, last in cut:
            text = text[:first] + _MASK * (last - first) + text[last:]
        solid = [span for span in solid if span not in cut]


def _list_own_formats(pattern: Pattern) -> tuple[str, ...]:
    """True for a pattern with an "@", which is meant for parts of e-mail addresses."""
    return ("email",) if "@" in pattern.text else ()


def _cuts_match(find: tuple[int, int], first: int, last: int) -> bool:
    return find[0] < last and first < find[1] and not (find[0] <= first and last <= find[1])


def read_by_choice(reading: Reading, fields: Sequence[Field]) -> Iterator[Candidate]:
    """Choices and synonyms anywhere in the text, except general and short words."""
    for field in fields:
        for match, spelling in find_choices(reading, field):
            if _is_specific(reading, match, spelling) and not reading.touches_structure(*match.span()):
                own = isinstance(spelling.value, str) and build_choice_key(spelling.value) == spelling.key
                yield Candidate(field, *match.span(), spelling.value, ENUM if own else SYNONYM)


def _is_specific(reading: Reading, match: re.Match[str], spelling: Spelling) -> bool:
    if all(word in VAGUE or word.isdigit() for word in spelling.key.split()):
        return False
    if len(spelling.key) > 2:
        return True
    if len(spelling.key) < 2:
        return False
    alone = build_choice_key(clean_value(reading.original)) == spelling.key
    is_small = any(
        language.is_in(table, spelling.key)
        for language in map(get_language, list_languages())
        for table in ("before_date", "before_time", "limits_before")
    )
    return alone or (not is_small and not reading.is_shouting and reading.quote(*match.span()) == spelling.text)


def read_by_format(reading: Reading, fields: Sequence[Field]) -> Iterator[Candidate]:
    """E-mail addresses, dates, web addresses, ids, phone numbers. A phone number must look like one."""
    for field in fields:
        for match in reading.formats.get(field.format or "", ()):
            if field.format == "phone" and not is_evident_phone(match.group()):
                continue
            if not _is_overruled(reading, field.format or "", match):
                value, end, problem = read_formatted(reading, field, *match.span())
                yield Candidate(field, match.start(), end, value, FORMAT, problem)


def _is_overruled(reading: Reading, name: str, match: re.Match[str]) -> bool:
    return any(
        other.start() < match.end() and match.start() < other.end()
        for stronger in _STRONGER.get(name, ())
        for other in reading.formats[stronger]
    )


def list_shaped_fields(fields: Sequence[Field]) -> list[Field]:
    """The fields whose `pattern` matches the whole value."""
    return [
        field
        for field in fields
        if isinstance(shape := field.declared.get("pattern"), str) and shape.startswith("^") and shape.endswith("$")
    ]


def read_by_shape(reading: Reading, fields: Sequence[Field]) -> Iterator[Candidate]:
    """Words of letters and digits that match a field's `pattern` completely: "ORD-2291"."""
    for field in list_shaped_fields(fields):
        shape = field.declared["pattern"]
        for match in _TOKEN.finditer(reading.text):
            end = match.start() + len(match.group().rstrip("."))
            token = reading.quote(match.start(), end)
            if any(c.isalpha() for c in token) and any(c.isdigit() for c in token) and _fits(shape, token):
                yield Candidate(field, match.start(), end, token, PATTERN)


def _fits(shape: str, text: str) -> bool:
    try:
        return compile_pattern(shape, ignore_case=False).occurs_in(text)
    except PatternError:
        return False


def read_by_unit(reading: Reading, fields: Sequence[Field]) -> Iterator[Candidate]:
    """Numbers followed by a unit of the field: "24 months", "two tickets"."""
    for counted in find_numbers(reading):
        for field in fields:
            counts = is_numeric(field) and counted.unit in list_units(field)
            if counts and not is_bounded(reading, field, counted.start, counted.unit_end):
                yield from _build_candidates(field, counted, UNIT)


def read_by_number(
    reading: Reading, fields: Sequence[Field], claimed: Collection[str], shapes: Sequence[Field]
) -> Iterator[Candidate]:
    """Bare numbers, for amounts and counts. If one may be meant, any other makes it ambiguous.

    `claimed`: number fields that already have a labelled value. `shapes`: fields whose pattern may match numbers.
    """
    bare = [counted for counted in find_numbers(reading) if counted.unit is None and not _is_year(reading, counted)]
    bare = [
        counted
        for counted in bare
        if not any(_fits(mention.declared["pattern"], counted.number.digits) for mention in shapes)
    ]
    numeric = [field for field in fields if is_numeric(field) and field.path not in claimed]
    for field in numeric:
        meant = {
            mention.start
            for mention in bare
            if takes_bare_numbers(field)
            and _may_be_meant(reading, field, mention, alone=numeric == [field], rest=bool(claimed))
        }
        for counted in bare if meant else ():
            if counted.start in meant or not counted.in_words:
                yield from _build_candidates(field, counted, NUMBER)


def _is_year(reading: Reading, counted: CountedNumber) -> bool:
    """True for the number of "in 2027"."""
    before = _write_tokens_before(reading, counted)
    text = f"{before}{counted.number.digits} "
    return any(get_language(code).names_year(text, len(before)) for code in list_languages())


def _is_age_of_one(reading: Reading, counted: CountedNumber) -> bool:
    """True for the number of "my son is 4"."""
    before = _write_tokens_before(reading, counted)
    return any(get_language(code).names_age_of_one(before, len(before)) for code in list_languages())


def _write_tokens_before(reading: Reading, counted: CountedNumber) -> str:
    return "".join(f"{word} " for word in reading.before(counted.start).split())


def _build_candidates(field: Field, counted: CountedNumber, by: str) -> Iterator[Candidate]:
    if value := read_counted(field, counted):
        core = (counted.number.core[0], max(counted.number.core[1], value[1] if by == UNIT else 0))
        yield Candidate(field, counted.start, value[1], value[0], by, value[2], core=core)


def _may_be_meant(reading: Reading, field: Field, counted: CountedNumber, *, alone: bool, rest: bool) -> bool:
    """`alone`: no other field could be meant. `rest`: the message gave the other fields."""
    if counted.number.money:
        return takes_money(field)
    if asks_how_many(field.spec) and _is_age_of_one(reading, counted):
        return False
    if sum(char.isdigit() for char in counted.number.digits) > (_LONGEST if takes_money(field) else _LONGEST_COUNT):
        return False
    before = reading.before(counted.start).split()
    if counted.in_words and (counted.number.value == 1 or not before):
        return False
    if not before:
        return alone and rest
    return before[-1] in (BEFORE_NUMBER | BEFORE_ONLY_NUMBER if alone else BEFORE_NUMBER)
