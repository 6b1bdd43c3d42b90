"""The options of a field by what a message may have of them: spellings, words, parts of words."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from convengine.engine.understanding.field import FieldSpec, Kind
from convengine.engine.understanding.grammar import Grammar
from convengine.engine.understanding.stems import stem
from convengine.engine.understanding.words import split_text

#: A word that so many options have tells none of them from the others.
_SHARED = 3
#: Signs that may stand between the words of a spelling, or be left out.
JOINTS = frozenset("-/&.,:;()'\"!?")
#: Classes of words that mean the same where they have the same value: "weds" and "Wednesday", "three" and "3".
_EQUAL_CLASSES = ("weekday", "month", "measure", "number_word")
#: Shorter words are no parts of words.
SHORTEST_PART = 4


@dataclass(eq=False)
class OptionIndex:
    """The spellings of the options of one field, by what a message may have. Options are named by their place."""

    name: str
    size: int
    #: By the first word: the words of each spelling, as they are and as they are compared, with the option.
    spellings: dict[str, list[tuple[tuple[str, ...], tuple[str, ...], int]]] = field(default_factory=dict)
    #: By word or stem: the options that have it, without the words of the field's own name.
    words: dict[str, set[int]] = field(default_factory=dict)
    #: Beginnings and ends of their words: the "Keller" of "Kellerschlüssel".
    parts: dict[str, set[int]] = field(default_factory=dict)
    #: Spellings and words without blanks.
    joined: dict[str, set[int]] = field(default_factory=dict)
    #: By whole spellings without blanks: their words.
    whole: dict[str, tuple[str, ...]] = field(default_factory=dict)
    #: By option: the words of each spelling that few options have.
    cores: dict[int, list[frozenset[str]]] = field(default_factory=dict)
    #: The words of labels, and other words that name an option by themselves, with their stems.
    naming: set[str] = field(default_factory=set)
    #: The words of all spellings.
    spelled: set[str] = field(default_factory=set)
    #: First letters.
    initials: dict[str, set[int]] = field(default_factory=dict)
    #: The length of the longest word.
    longest: int = 0


@lru_cache(maxsize=256)
def get_indexes(specs: tuple[FieldSpec, ...], grammar: Grammar) -> tuple[OptionIndex, ...]:
    return tuple(_make_index(spec, grammar) for spec in specs if spec.kind is Kind.CHOICE and spec.options)


def _make_index(spec: FieldSpec, grammar: Grammar) -> OptionIndex:
    index, equals = OptionIndex(spec.name, len(spec.options)), get_equals(grammar)
    own_name = {key for text in (spec.title, spec.name) for key in split_spelling(text)}
    for position, option in enumerate(spec.options):
        for spelling in option.spellings:
            words = split_spelling(spelling)
            if not words:
                continue
            compared = tuple(equals.get(word, word) for word in words)
            index.spellings.setdefault(compared[0], []).append((words, compared, position))
            index.joined.setdefault("".join(words), set()).add(position)
            index.whole.setdefault("".join(words), words)
            index.spelled.update(words)
            index.initials.setdefault(words[0][0], set()).add(position)
            for word in words:
                if word not in own_name:
                    _add_word(index, word, position, grammar)
                _add_naming(index, word, grammar, is_whole=spelling == option.label or len(words) == 1)
    for spellings in index.spellings.values():
        for words, _, position in spellings:
            core = frozenset(word for word in words if 0 < len(index.words.get(word, ())) < _SHARED)
            index.cores.setdefault(position, []).extend([core] if core else [])
    return index


def _add_naming(index: OptionIndex, word: str, grammar: Grammar, *, is_whole: bool) -> None:
    if is_whole:
        index.naming |= {word, stem(word, grammar)}


def _add_word(index: OptionIndex, word: str, position: int, grammar: Grammar) -> None:
    """Add a word of an option: its forms, and if it is long enough, its beginnings and ends."""
    for form in {word, stem(word, grammar), get_equals(grammar).get(word, word)}:
        index.words.setdefault(form, set()).add(position)
        index.longest = max(index.longest, len(form))
    if len(word) > SHORTEST_PART:
        index.joined.setdefault(word, set()).add(position)
        for size in range(SHORTEST_PART, len(word)):
            index.parts.setdefault(word[:size], set()).add(position)
            index.parts.setdefault(word[-size:], set()).add(position)


def split_spelling(text: str) -> tuple[str, ...]:
    """The folded words of a spelling with the signs that make a difference: "C++"."""
    keys = [word.key for word in split_text(text)]
    return tuple(key for key in keys if key not in JOINTS) or tuple(keys)


@lru_cache(maxsize=16)
def get_equals(grammar: Grammar) -> Mapping[str, str]:
    """For each word of the equal classes one word or number that stands for all of its value."""
    equals: dict[str, str] = {}
    for name in _EQUAL_CLASSES:
        first: dict[object, str] = {}
        for word, value in grammar.list_words(name):
            if len(word) > 1:
                equals.setdefault(word, first.setdefault(value, str(value) if name == "number_word" else word))
    return equals
