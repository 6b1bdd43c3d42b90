"""Values beside the name of their field: "name: value", "name is value", "name value" (R10)."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from convengine.engine.forms.convert import VALUE_INVALID, VALUE_VIOLATES_SCHEMA, clean_value
from convengine.engine.forms.extract.candidate import LABEL, Candidate
from convengine.engine.forms.extract.free_text import (
    Names,
    find_end_after_name,
    find_end_after_sign,
    find_end_after_verb,
    find_id_end,
)
from convengine.engine.forms.extract.language import CHANGED_TO, CHANGES, EXPLICIT, GENERIC, NAMING, SOFT, UNITS
from convengine.engine.forms.extract.reading import Reading
from convengine.engine.forms.extract.typed_values import (
    is_numeric,
    is_typed,
    read_number_at,
    read_typed,
    singularize,
)
from convengine.engine.forms.form import Field
from convengine.engine.forms.spellings import list_spellings
from convengine.engine.text.words import FILLERS, Words
from convengine.engine.values.language import get_language, list_languages
from convengine.engine.values.names import is_name_field, takes_name_of_other
from convengine.engine.values.tokens import fold_text

#: The word before a name, and the longest number there.
_WORD_BEFORE = re.compile(r"[\w.,]+(?=\s+\Z)")
_LONGEST_NUMBER = 20
#: Words before a time or a day, folded.
_WHEN = frozenset(("at", "on", "for", "um", "am", "ab", "fur"))


@dataclass(frozen=True)
class FieldMention:
    """A field name in the text."""

    field: Field
    start: int
    end: int
    #: True for a name without its last word: "customer 9912" for customerId. It counts before ids only.
    cut: bool


def find_mentions(reading: Reading, fields: Sequence[Field]) -> list[FieldMention]:
    """All field names in the text. A shorter name inside a longer one does not count."""
    mentions = [
        FieldMention(field, *match.span(), cut)
        for field in fields
        for label, cut in _list_callings(field, fields)
        for match in _compile_label(label).finditer(reading.text)
        if not reading.touches_structure(*match.span())
    ]
    return [name for name in mentions if not any(_is_longer(other, name) for other in mentions)]


def read_by_label(reading: Reading, fields: Sequence[Field], missing: Collection[str]) -> Iterator[Candidate]:
    """The values after field names. Plain words count only if the field is missing."""
    mentions = [name for name in find_mentions(reading, fields) if not _is_name_of_other(reading, name, fields)]
    names = sorted(mentions, key=lambda name: name.start)
    extents: Names = {name.start: name.end for name in names}
    read = 0
    for start in extents:
        # A name inside a value belongs to the value: "street: Main Street 5".
        named = [name for name in names if name.start == start >= read]
        for candidate in [value for name in named if (value := _read_value(reading, name, extents, missing))]:
            read = max(read, candidate.end)
            yield candidate


def _is_name_of_other(reading: Reading, mention: FieldMention, fields: Sequence[Field]) -> bool:
    """True for the name in "her name is" and "our cat's name is", if another field takes names of others."""
    words = reading.before(mention.start).split()[-1:]
    languages = [get_language(code) for code in list_languages()]
    is_owned = any(word.endswith("'s") for word in words) or any(
        language.is_in("owners_of_names", word) for language in languages for word in words
    )
    if not is_owned or any(takes_name_of_other(mention.field.spec, language) for language in languages):
        return False
    is_name = any(is_name_field(mention.field.spec, language) for language in languages)
    return is_name and any(takes_name_of_other(field.spec, language) for field in fields for language in languages)


def _read_value(reading: Reading, name: FieldMention, extents: Names, missing: Collection[str]) -> Candidate | None:
    sign = EXPLICIT.match(reading.text, name.end)
    if name.cut:
        return _read_id(reading, name)
    if is_typed(name.field):
        return _read_typed(reading, name, sign or _find_changed_to(reading, name), extents)
    if sign:
        return _read_words(reading, name, sign.end(), find_end_after_sign(reading, sign.end(), extents))
    naming = NAMING.match(reading.text, name.end)
    if naming is None:
        return None
    if address := _find_address(reading, name.field, naming.end()):
        return _read_words(reading, name, *address.span())
    verb = naming["verb"].strip() and name.field.path in missing
    return _read_words(
        reading, name, naming.end(), (find_end_after_verb if verb else find_end_after_name)(reading, naming.end())
    )


def _find_address(reading: Reading, field: Field, start: int) -> re.Match[str] | None:
    """The e-mail address after the name of a mail field without a format."""
    if not any("mail" in word for label in field.labels for word in label):
        return None
    return next((match for match in reading.formats["email"] if match.start() == start), None)


def _read_typed(reading: Reading, name: FieldMention, sign: re.Match[str] | None, extents: Names) -> Candidate | None:
    field, soft = name.field, SOFT.match(reading.text, name.end)
    between = sign or soft
    typed_value = read_typed(reading, field, between.end()) if between else None
    if typed_value and between and not (soft and is_numeric(field) and _counts_behind(reading, name.start, soft)):
        value, end, problem = typed_value
        core = (name.start, find_number_end(reading, between.end(), end)) if is_numeric(field) else None
        return Candidate(field, between.end(), end, value, LABEL, problem, name.start, core)
    if sign is None:
        return None
    given = _read_words(reading, name, sign.end(), find_end_after_sign(reading, sign.end(), extents))
    problem = VALUE_VIOLATES_SCHEMA if list_spellings(field) else VALUE_INVALID
    return Candidate(field, given.start, given.end, given.value, LABEL, problem, name.start) if given else None


def _counts_behind(reading: Reading, start: int, soft: re.Match[str]) -> bool:
    """True for a name between two numbers, where the first one is its number: "5 tables 20 chairs", "5 people at 6"."""
    word = _WORD_BEFORE.search(reading.text, max(0, start - _LONGEST_NUMBER), start)
    own = read_number_at(reading, word.start()) if word else None
    behind = read_number_at(reading, soft.end())
    if own is None or own.unit is None or not own.end <= start <= own.unit_end or behind is None:
        return False
    if not _WHEN.isdisjoint(soft.group().split()):
        return True
    # Before "room 5 floor 3", a name stands.
    return FILLERS.issuperset(reading.before(own.start).split()[-1:]) and behind.unit is not None


def _find_changed_to(reading: Reading, name: FieldMention) -> re.Match[str] | None:
    """The "to" of "change the NAME to …" and of "NAME auf … ändern", which works like a colon."""
    _, end = reading.clause(name.start)
    changes = CHANGES.search(reading.before(name.start)) or CHANGES.search(reading.text, name.end, end)
    return CHANGED_TO.match(reading.text, name.end) if changes else None


def find_number_end(reading: Reading, start: int, end: int) -> int:
    """The end of the number at a position, without its currency."""
    counted = read_number_at(reading, start, named=True)
    return counted.number.core[1] if counted else end


def _read_id(reading: Reading, name: FieldMention) -> Candidate | None:
    between = EXPLICIT.match(reading.text, name.end) or NAMING.match(reading.text, name.end)
    return _read_words(reading, name, between.end(), find_id_end(reading, between.end())) if between else None


def _read_words(reading: Reading, name: FieldMention, start: int, end: int | None) -> Candidate | None:
    if end is None:
        return None
    value = clean_value(reading.quote(start, end)).lstrip("#")
    if not value or any(get_language(code).is_in("wrong_words", fold_text(value)) for code in list_languages()):
        return None  # "The name is wrong"
    return Candidate(name.field, start, end, value, LABEL, anchor=name.start)


def _list_callings(field: Field, fields: Sequence[Field]) -> Iterator[tuple[Words, bool]]:
    """The names of a field, including shortened ones if they are unique."""
    taken = {label for other in fields for label in other.labels}
    for label in field.labels:
        yield label, False
        if is_numeric(field) and "in" in label[1:-1] and (name := label[: label.index("in", 1)]) not in taken:
            yield name, False  # "Fläche in Quadratmetern"
        if len(label) > 1 and label[:-1] not in taken:
            if label[-1] in GENERIC and not is_typed(field):
                yield label[:-1], True
            elif is_numeric(field) and singularize(label[-1]) in UNITS:
                yield label[:-1], False


@lru_cache(maxsize=4096)
def _compile_label(label: Words) -> re.Pattern[str]:
    endings = "|".join(
        sorted({ending for code in list_languages() for ending in get_language(code).words["field_endings"]})
    )
    name = r"[\s_-]*".join(map(re.escape, label))
    return re.compile(rf"(?<![\w'@/.#])(?<!\w-){name}(?:{endings})?(?!\w)(?!-\w)")


def _is_longer(mention: FieldMention, other: FieldMention) -> bool:
    contains = mention.start <= other.start and other.end <= mention.end
    return contains and (mention.end - mention.start) > (other.end - other.start)
