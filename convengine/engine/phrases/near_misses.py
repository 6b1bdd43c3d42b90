"""Known words that an unknown word probably means: a typing error, a part of a compound, a related word."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from rapidfuzz import process
from rapidfuzz.distance import DamerauLevenshtein

from convengine.engine.phrases.languages import Language
from convengine.engine.phrases.words import TellingWord, find_term, map_related_terms

#: How much a word counts that is only similar: one wrong letter, two, part of a compound, a related word.
ONE_LETTER, TWO_LETTERS, COMPOUND, RELATED = 0.9, 0.75, 0.7, 0.75
#: Typing errors are looked for in words of this length; two of them in longer ones.
_SHORTEST, _SHORTEST_CHANGED, _LONG = 5, 6, 8
#: Minimum length of a part of a compound, and of the rest of the compound.
_PART, _REST = 5, 3
#: Minimum length of a word that is cut short, and of what is cut off: "temp".
_CUT, _CUT_OFF = 4, 4
#: Maximum words that begin or end alike.
_MOST = 20


class Vocabulary:
    """The words of all phrases of one language, with the term of each."""

    def __init__(self, words: Iterable[TellingWord], language: Language) -> None:
        self._language = language
        self._terms: dict[str, str] = {}
        for word in words:
            self._terms.setdefault(word.text, word.term)
            self._terms.setdefault(word.term, word.term)
        self._of_term = frozenset(self._terms.values())

    def find_similar(self, word: TellingWord) -> Mapping[str, float]:
        """The terms that a word without a term of its own may mean, and how much each counts."""
        if any(char.isdigit() for char in word.text):
            return {}
        similar = self._find_typing_errors(word.text) or self._find_compounds(word.text)
        for term in map_related_terms(self._language).get(word.term, ()):
            if term in self._of_term:
                similar[term] = max(RELATED, similar.get(term, 0.0))
        return similar

    def _find_typing_errors(self, text: str) -> dict[str, float]:
        if len(text) < _SHORTEST - 1 or self._is_known_word(text):
            return {}
        similar: dict[str, float] = {}
        hits = process.extract(
            text,
            self._by_initial.get(text[0], ()),
            scorer=DamerauLevenshtein.distance,
            score_cutoff=2,
            limit=None,
        )
        nearest = min((distance for _, distance, _ in hits), default=0)
        for known, distance, _ in hits:
            if distance == nearest and _is_typing_error(text, known, int(distance)):
                similar[self._terms[known]] = ONE_LETTER if distance == 1 else TWO_LETTERS
        return similar

    def _is_known_word(self, text: str) -> bool:
        """True for a word of the language's own tables: it is no typing error of another one."""
        return text in self._language.base_forms or find_term(text, self._language) in map_related_terms(self._language)

    def _find_compounds(self, text: str) -> dict[str, float]:
        parts = [text[:end] for end in range(_PART, len(text) - _REST + 1)]
        parts += [text[start:] for start in range(_REST, len(text) - _PART + 1)]
        wholes = self._list_compounds_of(text) if len(text) >= _PART else self._list_wholes_of_cut_word(text)
        return {self._terms[known]: COMPOUND for known in (*parts, *wholes) if known in self._terms}

    def _list_wholes_of_cut_word(self, text: str) -> Iterable[str]:
        """The only known word that the text begins: "temperature" for "temp"."""
        if len(text) < _CUT or self._is_known_word(text):
            return []
        start = bisect_left(self._sorted, text)
        wholes = [known for known in self._sorted[start : start + _MOST] if known.startswith(text)]
        terms = {self._terms[known] for known in wholes}
        return wholes if len(terms) == 1 and all(len(known) >= len(text) + _CUT_OFF for known in wholes) else []

    def _list_compounds_of(self, text: str) -> Iterator[str]:
        """The known words that begin or end with the text."""
        for words, beginning, turn in ((self._sorted, text, 1), (self._sorted_backwards, text[::-1], -1)):
            start = bisect_left(words, beginning)
            for known in words[start : start + _MOST]:
                if known.startswith(beginning) and len(known) >= len(text) + _REST:
                    yield known[::turn]

    @cached_property
    def _by_initial(self) -> Mapping[str, list[str]]:
        groups: dict[str, list[str]] = {}
        for text in self._terms:
            if len(text) >= _SHORTEST - 1:
                groups.setdefault(text[0], []).append(text)
        return groups

    @cached_property
    def _sorted(self) -> list[str]:
        return sorted(self._terms)

    @cached_property
    def _sorted_backwards(self) -> list[str]:
        return sorted(text[::-1] for text in self._terms)


def is_misspelling(text: str, known: str) -> bool:
    """True for the same word, and for one with a single typing error."""
    return text == known or (
        len(known) >= _SHORTEST - 1
        and DamerauLevenshtein.distance(text, known, score_cutoff=1) == 1
        and _is_typing_error(text, known, 1)
    )


def _is_typing_error(text: str, known: str, distance: int) -> bool:
    """A word that only goes on is another form or another word: late and later. A last letter may be double."""
    if (text.startswith(known) or known.startswith(text)) and text.rstrip(text[-1]) != known.rstrip(text[-1]):
        return False
    longest = max(len(text), len(known))
    if distance == 2:
        return longest >= _LONG
    swapped_or_missing = len(text) != len(known) or sorted(text) == sorted(known)
    return longest >= (_SHORTEST if swapped_or_missing else _SHORTEST_CHANGED)
