"""Values of the form that was done before, which a message only refers to: "same number", "the address as before"."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import cache

from convengine.engine.forms.asking import refers_back
from convengine.engine.forms.extract.candidate import FORMER, Candidate
from convengine.engine.forms.extract.directions import leads_from, leads_to
from convengine.engine.forms.extract.place_names import asks_for_place
from convengine.engine.forms.extract.reading import Reading
from convengine.engine.forms.form import Field
from convengine.engine.text.words import fold
from convengine.engine.values import Kind, ReadingSituation, read_value
from convengine.engine.values.language import get_language, list_languages
from convengine.engine.values.names import is_name_field
from convengine.engine.values.tokens import fold_text

#: Kinds whose values must still fit the field's bounds.
_BOUNDED = (Kind.DATE, Kind.TIME, Kind.DATE_TIME, Kind.DURATION)
#: How many words name a field.
_LONGEST_NAME = 3
#: The time of a stored moment.
_TIME = slice(11, 16)
_WORD = re.compile(r"[^\W_]+(?:[-'][^\W_]+)*")
_TO = re.compile(r"\b(?:to|nach|zu[mr]?|an)\s+(?:the\s+|die\s+|der\s+|das\s+)?$")
_FROM = re.compile(r"\b(?:from|at|von|vom|bei)\s+(?:the\s+|der\s+|dem\s+)?$")


def read_same_values(
    reading: Reading,
    fields: Sequence[Field],
    open_fields: Sequence[Field],
    asked_paths: Collection[str],
    situation: ReadingSituation,
) -> list[Candidate]:
    """The former values of the open fields to which the message refers. `fields`: all of the form.

    A name that several fields have is that of the asked one; what the form itself says already is not meant.
    """
    if not situation.former_values:
        return []
    claims: list[Candidate] = []
    names_field = False
    for start, end, words, is_former in _find_references(reading):
        named = _find_named_fields(words, fields, situation)
        names_field = names_field or bool(named)
        if reading.is_denied(start, end) or reading.is_question(start):
            continue
        open_named = [field for field in named if field in open_fields]
        is_meant = is_former or len(open_named) == len(named)
        field = _choose_field(reading, start, open_named, asked_paths) if is_meant else None
        if field is None or any(claim.field is field or (claim.start < end and start < claim.end) for claim in claims):
            continue
        claims += _list_former(field, start, end, situation)
    asked_field = next((field for field in open_fields if [field.path] == [*asked_paths]), None)
    if asked_field is not None and not names_field and _refers_back(reading, asked_field):
        claims += _list_former(asked_field, 0, len(reading.text), situation)
    return claims


def _refers_back(reading: Reading, field: Field) -> bool:
    """True when the whole message only refers to an earlier value: "same again", "as before"."""
    is_before = _compile("as_before").fullmatch(reading.text.strip(" .!")) is not None
    return "?" not in reading.original and (is_before or refers_back(reading.original, field))


def add_former_time(reading: Reading, fields: Sequence[Field], situation: ReadingSituation) -> ReadingSituation:
    """The situation that knows the former time of a day and time, for "the same time on Monday"."""
    formers = [situation.former_values.get(field.path) for field in fields if field.spec.kind is Kind.DATE_TIME]
    if situation.known_part or len(formers) != 1 or not isinstance(formers[0], str):
        return situation
    times = {_plain(name) for code in list_languages() for name in get_language(code).words["kind_names"]["time"]}
    is_same = any(_is_name(words[0], times) for _, _, words, _ in _find_references(reading))
    return replace(situation, known_part=formers[0][_TIME]) if is_same else situation


def _find_references(reading: Reading) -> Iterator[tuple[int, int, list[str], bool]]:
    """Each "same" with the words behind it, and the words before each "as before"; and whether it is an "as before"."""
    words = list(_WORD.finditer(reading.text))
    befores = list(_compile("as_before").finditer(reading.text))
    for match in _compile("same_adjectives").finditer(reading.text):
        _, clause_end = reading.clause(match.start())
        named = [word for word in words if match.end() <= word.start() and word.end() <= clause_end][:_LONGEST_NAME]
        is_former = any(match.end() <= before.start() < clause_end for before in befores)
        if named:
            yield match.start(), named[-1].end(), [_plain(reading.quote(*word.span())) for word in named], is_former
    for before in befores:
        clause_start, _ = reading.clause(before.start())
        named = [word for word in words if clause_start <= word.start() and word.end() <= before.start()]
        for size in range(min(len(named), _LONGEST_NAME), 0, -1):
            words_before = [_plain(reading.quote(*word.span())) for word in named[-size:]]
            yield named[-size].start(), before.end(), words_before, True


def _find_named_fields(words: Sequence[str], fields: Sequence[Field], situation: ReadingSituation) -> list[Field]:
    """The fields that the first of these words name, by the most words.

    A title goes before the words of a title, and these before what people call fields of a kind.
    """
    for size in range(len(words), 0, -1):
        names = words[:size]
        # "The same time" is only a part of a day and time.
        whole = [field for field in fields if field.spec.kind is not Kind.DATE_TIME]
        for named in (
            [field for field in fields if _is_name("".join(names), (_plain(field.spec.title),))],
            [field for field in whole if all(_is_name(name, _list_own_names(field)) for name in names)],
            [field for field in whole if all(_is_name(name, _list_kind_names(field, situation)) for name in names)],
        ):
            if named:
                return named
    return []


def _choose_field(reading: Reading, start: int, named: Sequence[Field], asked_paths: Collection[str]) -> Field | None:
    if len(named) > 1:
        before = reading.text[:start]
        leads = leads_to if _TO.search(before) else leads_from if _FROM.search(before) else None
        directed = [field for field in named if leads is not None and leads(field)]
        named = directed or [field for field in named if field.path in asked_paths]
    return named[0] if len(named) == 1 else None


def _list_former(field: Field, start: int, end: int, situation: ReadingSituation) -> list[Candidate]:
    """The former value of a field, or why it cannot be taken again; nothing if it had none."""
    former = situation.former_values.get(field.path)
    if former is None:
        return []
    reading = read_value(field.spec, str(former), situation) if field.spec.kind in _BOUNDED else None
    if reading is not None and reading.reason:
        return [Candidate(field, start, end, str(former), FORMER, reading.reason.value, data=reading.data)]
    return [Candidate(field, start, end, former, FORMER)]


def _list_own_names(field: Field) -> frozenset[str]:
    return frozenset(map(_plain, field.spec.words))


def _list_kind_names(field: Field, situation: ReadingSituation) -> frozenset[str]:
    """What people call fields of its kind: "number" for a phone, "place" for an address."""
    own, languages = _list_own_names(field), [get_language(code) for code in list_languages()]
    # "The same number" is a phone's.
    kind = None if field.spec.kind is Kind.NUMBER else field.spec.kind
    names = {name for language in languages for name in language.words["kind_names"].get(kind, ())}
    if asks_for_place(field, situation.locale):
        names |= {word for language in languages for word in language.words["place_words"]}
    if any(is_name_field(field.spec, language) for language in languages):
        names |= {word for language in languages for word in language.words["name_fields"]}
    return own | frozenset(map(_plain, names))


def _is_name(word: str, names: Collection[str]) -> bool:
    return word in names or any(word == f"{name}{ending}" for name in names for ending in ("n", "en", "s"))


def _plain(word: str) -> str:
    return fold_text(word).replace("-", "").replace(" ", "")


@cache
def _compile(table: str) -> re.Pattern[str]:
    phrases = {fold(phrase) for code in list_languages() for phrase in get_language(code).words[table]}
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, sorted(phrases, key=len, reverse=True)))})(?!\w)")
