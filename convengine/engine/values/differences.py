"""What moves a number that was given before: "one more", "zwei Personen weniger" (R109)."""

import re
import unicodedata
from collections.abc import Sequence

from convengine.engine.values.corrections import has_number, list_small_words
from convengine.engine.values.field_spec import FieldSpec
from convengine.engine.values.headcounts import counts_people, get_headcount_tables
from convengine.engine.values.language import Language, get_language
from convengine.engine.values.numbers import get_tables, list_field_units, names_what_is_counted
from convengine.engine.values.read import list_situations
from convengine.engine.values.reading import ReadingSituation

_MAX_LENGTH = 120
_CLAUSE = re.compile(r"\s*[,;.!?–]+\s+")
_LONGEST_NUMBER = 2


def find_difference(spec: FieldSpec, text: str, situation: ReadingSituation) -> tuple[int, bool] | None:
    """The number of "two less, my parents can't come" for what a field counts, negative for less; null for other texts.

    The second value says whether the text names what is counted. The other clauses must have no number of their own.
    """
    composed = unicodedata.normalize("NFC", text)
    if len(composed) > _MAX_LENGTH:
        return None
    clauses = [clause for clause in _CLAUSE.split(composed) if clause]
    for local in list_situations(situation):
        language = get_language(local.locale)
        matches = [_read_clause(spec, clause, language) for clause in clauses]
        differences = [item for item in matches if item]
        others = [clause for clause, item in zip(clauses, matches, strict=True) if item is None]
        if len(differences) == 1 and not any(has_number(clause, situation) for clause in others):
            return differences[0]
    return None


def _read_clause(spec: FieldSpec, clause: str, language: Language) -> tuple[int, bool] | None:
    words = [token.text for token in language.read_tokens(clause).tokens]
    ends = [index for index, word in enumerate(words) if language.is_in("conclusions", word)]
    if ends and not any(map(str.isdigit, "".join(words[: ends[-1]]))):
        words = words[ends[-1] + 1 :]  # "My sister comes too, so one more"
    matches = [
        (count, *match)
        for index, word in enumerate(words)
        if (count := _read_count(word, language)) and (match := _match_words(words, index, language))
    ]
    if len(matches) != 1:
        return None
    count, sign, noun, others = matches[0]
    small = list_small_words(language)
    if not all(word in small or language.is_in("difference_words", word) for word in others):
        return None
    is_named = bool(noun) and not any(language.is_in(table, noun) for table in ("after", "difference_words"))
    if any(language.is_in("lone_number_hedges", word) for word in others):
        return None  # "Maybe one more"
    return (sign * count, is_named) if not is_named or _names_count(spec, noun, language) else None


def _read_count(word: str, language: Language) -> int | None:
    if word.isdigit():
        return int(word) if len(word) <= _LONGEST_NUMBER else None
    if language.is_in("another_words", word):
        return 1
    return get_headcount_tables(language).numbers.get(word)


def _match_words(words: Sequence[str], index: int, language: Language) -> tuple[int, str, list[str]] | None:
    """The sign, the noun and the other words of "one more bike", "one bike more" and "another bike"."""
    behind = [*words[index + 1 : index + 3], "", ""]
    for at, noun in ((0, behind[1]), (1, behind[0])):
        for table, sign in (("more_words", 1), ("fewer_words", -1)):
            if language.is_in(table, behind[at]):
                return sign, noun, [*words[:index], *words[index + 3 :]]
    is_led = language.is_in("another_words", words[index]) or (index and language.is_in("more_leads", words[index - 1]))
    is_noun = bool(behind[0]) and not language.is_in("difference_words", behind[0])
    return (1, behind[0], [*words[: max(index - 1, 0)], *words[index + 2 :]]) if is_led and is_noun else None


def _names_count(spec: FieldSpec, noun: str, language: Language) -> bool:
    """True for a noun of what the field counts; people are counted by any word for them."""
    tables, people = get_tables(language), get_headcount_tables(language)
    units = list_field_units(spec, tables)
    is_person = any(phrases.match_start(noun, 0) == len(noun) for phrases in (people.members, people.relatives))
    return (
        names_what_is_counted(noun, spec, language)
        or not units.isdisjoint([tables.units.get(noun), tables.counters.get(noun)])
        or (is_person and counts_people(spec, units, language))
    )
