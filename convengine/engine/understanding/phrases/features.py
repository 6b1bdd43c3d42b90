"""The words of a text, and the letters inside them, as weighed terms: what texts have in common, word by word.

A term weighs `(1 + ln n) * (1 + ln((1 + N) / (1 + d)))` if it is n times in a text and in d of N texts. The words of a
text have the length 1 together, and so have its letters, so that the product of two texts says how alike they are.
Words that no text of a table has count in that length: what a table does not know, its words say nothing about.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from math import log, sqrt
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

import numpy as np
import numpy.typing as npt

from convengine.engine.understanding.words import split_text

if TYPE_CHECKING:
    # Taking it in needs as long as a fifth of the product: only those who compare phrases pay for that.
    from scipy.sparse import csr_matrix

Numbers = npt.NDArray[np.float32]
Synonyms = tuple[tuple[str, ...], ...]
#: How many letters in a row are a term.
_FEWEST_LETTERS, _MOST_LETTERS = 2, 4
#: The columns of hashed terms; which one, and with which sign, the hash of a term says.
_COLUMNS, _SIGN = 1024, 1 << 31
#: Signs at the end of a message that many leave out. A question mark says something.
_LAST_SIGNS = " .!…"
#: Words of a message; what follows is not compared.
_MOST_WORDS = 60


class Terms(NamedTuple):
    """The terms of a text that a table knows, by their columns."""

    columns: list[int]
    weights: list[float]

    @property
    def known(self) -> float:
        """How much of the text they are: 2 if the table knows all its words and letters, 0 if it knows none."""
        return sum(weight * weight for weight in self.weights)


class TextTable:
    """The terms of some texts, by which another text is compared with each of them."""

    def __init__(self, texts: Sequence[str], synonyms: Synonyms = ()) -> None:
        self._synonyms = _map_synonyms(synonyms)
        counted = [self._count(text) for text in texts]
        known = Counter(term for groups in counted for group in groups for term in group)
        self._columns = {term: column for column, term in enumerate(known)}
        self._rarities = {term: 1 + log((1 + len(texts)) / (1 + count)) for term, count in known.items()}
        self._rarest = 1 + log(1 + len(texts))
        #: A row for each text, a column for each term.
        self.matrix = _stack([self._compute_terms(groups) for groups in counted], len(known))
        hashes = np.array([crc32(term.encode("utf-8", "replace")) for term in known], np.int64)
        self._places, self._signs = hashes % _COLUMNS, np.where(hashes & _SIGN, 1, -1).astype(np.float32)
        by_term = self.matrix.tocsc()
        self._rows, self._weights, self._ends = by_term.indices, by_term.data, by_term.indptr

    def compute_terms(self, text: str) -> Terms:
        """The known terms of another text."""
        return self._compute_terms(self._count(text))

    def compare(self, terms: Terms) -> Numbers:
        """How much each of the texts has in common with another one: 2 for the same text."""
        shared = np.zeros(self.matrix.shape[0], np.float32)
        for column, weight in zip(*terms, strict=True):
            part = slice(self._ends[column], self._ends[column + 1])
            shared[self._rows[part]] += weight * self._weights[part]
        return shared

    def hash_texts(self) -> Numbers:
        """The terms of each text in a fixed number of columns; a product of two rows is nearly what they share."""
        from scipy.sparse import csr_matrix

        terms = self.matrix
        places, signs = self._places[terms.indices], self._signs[terms.indices]
        hashed = csr_matrix((terms.data * signs, places, terms.indptr), shape=(terms.shape[0], _COLUMNS))
        dense: Numbers = hashed.toarray()
        return dense

    def hash_terms(self, terms: Terms) -> Numbers:
        """The terms of another text in the same columns."""
        hashed = np.zeros(_COLUMNS, np.float32)
        for column, weight in zip(*terms, strict=True):
            hashed[self._places[column]] += self._signs[column] * weight
        return hashed

    def _count(self, text: str) -> tuple[Counter[str], Counter[str]]:
        """How often each term is in a text: of its words, where synonyms add one of their own, and of its letters."""
        words, letters = _count_terms(text)
        if self._synonyms:
            same = [self._synonyms[word] for word in words if word in self._synonyms]
            words = words + Counter(f"={term}" for term in same)
        return words, letters

    def _compute_terms(self, groups: Iterable[Counter[str]]) -> Terms:
        """The known terms of counted words and letters, each weighed in its group."""
        terms = Terms([], [])
        for counts in groups:
            weights = {term: (1 + log(n)) * self._rarities.get(term, self._rarest) for term, n in counts.items()}
            length = sqrt(sum(weight * weight for weight in weights.values()))
            known = [term for term in weights if term in self._columns]
            terms.columns.extend(self._columns[term] for term in known)
            terms.weights.extend(weights[term] / length for term in known)
        return terms


def spell_beginning(text: str) -> str:
    """A text with a small first letter and without its full stop."""
    return text[:1].lower() + text[1:].rstrip(_LAST_SIGNS)


def _stack(rows: Sequence[Terms], most: int) -> "csr_matrix":
    """The terms of each text as a row of a matrix of `most` columns."""
    from scipy.sparse import csr_matrix

    ends = np.cumsum([0, *(len(row.columns) for row in rows)])
    columns = np.array([column for row in rows for column in row.columns], np.int32)
    weights = np.array([weight for row in rows for weight in row.weights], np.float32)
    return csr_matrix((weights, columns, ends), shape=(len(rows), most))


@lru_cache(8192)
def _count_terms(text: str) -> tuple[Counter[str], Counter[str]]:
    """How often each word and pair of words is in a text, and each run of letters."""
    words = [word.key for word in split_text(text) if not word.is_sign][:_MOST_WORDS]
    pairs = (f"{first} {second}" for first, second in pairwise(words))
    letters = (run for word in words for run in _list_runs(f" {word} "))
    return Counter([*words, *pairs]), Counter(letters)


def _list_runs(word: str) -> Iterator[str]:
    """The letters in a row of a word between two blanks, told apart from whole words by their mark."""
    for size in range(_FEWEST_LETTERS, _MOST_LETTERS + 1):
        for start in range(max(1, len(word) - size + 1)):
            yield f"~{word[start : start + size]}"


def _map_synonyms(synonyms: Synonyms) -> Mapping[str, str]:
    """The first of the words that mean the same, by each of them; words of one group share this term."""
    mapped: dict[str, str] = {}
    for group in synonyms:
        keys = [key for text in group if (key := " ".join(word.key for word in split_text(text) if not word.is_sign))]
        if keys:
            mapped |= dict.fromkeys(keys, keys[0])
    return mapped
