"""The terms of phrases that an unknown word probably means: a part of a compound, a related word."""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property

from convengine.engine.understanding.phrases.terms import PhraseLanguage, TellingWord
from convengine.engine.understanding.words import SHORTEST_MENDED_SMALL, Lexicon

#: How much a word counts that is one slip away, a part of a compound, a related word.
SLIP, COMPOUND, RELATED = 0.9, 0.7, 0.75
#: Minimum length of a part of a compound, and of the rest of the compound.
_PART, _REST = 5, 3
#: Maximum words that begin or end alike.
_MOST = 20


class PhraseLexicon(Lexicon):
    """The words that a message is compared with: those of the phrases, and the tables'.

    A typing error is mended to a word of the phrases, else to a small word.
    """

    def __init__(self, words: Collection[str], language: PhraseLanguage) -> None:
        super().__init__(words, base=language.lexicon)
        self._phrases, self._small = Lexicon(words), language.small_lexicon

    def mend(self, key: str) -> str | None:
        """The only word of the phrases that is one slip away, or the only small word: "Owen" is no "own"."""
        small = self._small.mend(key)
        is_sure = small is not None and (len(key) >= SHORTEST_MENDED_SMALL or set(small) == set(key))
        return self._phrases.mend(key) or (small if is_sure else None)


class Vocabulary:
    """The words of all phrases of a language, with the term of each."""

    def __init__(self, words: Iterable[TellingWord], language: PhraseLanguage) -> None:
        self._related = language.related
        #: The term of each word, and of each term.
        self.terms: dict[str, str] = {}
        for word in words:
            self.terms.setdefault(word.key, word.term)
            self.terms.setdefault(word.term, word.term)

    def find_terms(self, word: TellingWord) -> Mapping[str, float]:
        """The known terms that a word may mean, and how much each counts."""
        if term := self.terms.get(word.term) or self.terms.get(word.key):
            return {term: SLIP if word.is_mended else 1.0}
        if any(char.isdigit() for char in word.key):
            return {}
        similar = dict.fromkeys(self._list_compounds(word.key), COMPOUND)
        for term in self._related.get(word.term, ()):
            if term in self.terms:
                similar[self.terms[term]] = RELATED
        return similar

    def _list_compounds(self, text: str) -> Iterator[str]:
        """The terms of the known words that begin or end the text, or that the text begins or ends."""
        parts = [text[:end] for end in range(_PART, len(text) - _REST + 1)]
        parts += [text[start:] for start in range(_REST, len(text) - _PART + 1)]
        wholes = self._list_wholes(text) if len(text) >= _PART else ()
        return (self.terms[known] for known in (*parts, *wholes) if known in self.terms)

    def _list_wholes(self, text: str) -> Iterator[str]:
        for words, beginning, turn in ((self._sorted, text, 1), (self._sorted_backwards, text[::-1], -1)):
            start = bisect_left(words, beginning)
            for known in words[start : start + _MOST]:
                if known.startswith(beginning) and len(known) >= len(text) + _REST:
                    yield known[::turn]

    @cached_property
    def _sorted(self) -> list[str]:
        return sorted(self.terms)

    @cached_property
    def _sorted_backwards(self) -> list[str]:
        return sorted(text[::-1] for text in self.terms)
