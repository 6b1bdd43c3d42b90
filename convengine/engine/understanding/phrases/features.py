"""The words of a text, and the letters inside them, as weighed terms: what texts have in common, word by word.

A term weighs `(1 + ln n) * (1 + ln((1 + N) / (1 + d)))` if it is n times in a text and in d of N texts. The words of a
text have the length 1 together, and so have its letters, so that the product of two texts says how alike they are.
Words that no text of a table has count in that length: what a table does not know, its words say nothing about.
"""

from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
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
    from scipy.sparse import csc_matrix, csr_matrix

Numbers = npt.NDArray[np.float32]
Synonyms = tuple[tuple[str, ...], ...]
#: How many letters in a row are a term.
_FEWEST_LETTERS, _MOST_LETTERS = 2, 4
#: The columns of hashed terms; which one, and with which sign, the hash of a term says.
_COLUMNS, _SIGN = 1024, 1 << 31
#: Signs at the end of a message that many leave out. A question mark says something.
_LAST_SIGNS = " .!…"
#: The texts whose counted terms are kept.
_KEPT = 8192
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
        self._columns: dict[str, int] = {}
        columns, counts, sizes = array("i"), array("H"), array("i")
        for text in texts:
            # More texts than are kept would only replace each other.
            for counted in self._count(text, is_kept=len(texts) <= _KEPT):
                columns.extend(self._columns.setdefault(term, len(self._columns)) for term in counted)
                counts.extend(counted.values())
                sizes.append(len(counted))
        rarities = 1 + np.log((1 + len(texts)) / (1 + np.bincount(columns, minlength=len(self._columns))))
        self._rarities, self._rarest = rarities.tolist(), 1 + log(1 + len(texts))
        #: A row for each text, a column for each term.
        self.matrix = _stack(columns, counts, sizes, rarities.astype(np.float32))
        hashes = np.array([crc32(term.encode("utf-8", "replace")) for term in self._columns], np.int64)
        self._places = (hashes % _COLUMNS).astype(np.int32)
        self._signs = np.where(hashes & _SIGN, 1, -1).astype(np.float32)
        self._by_term: csc_matrix | None = None

    def compute_terms(self, text: str) -> Terms:
        """The known terms of another text: of its words and its letters, each weighed in its group."""
        terms = Terms([], [])
        for counts in self._count(text):
            known = {term: self._columns[term] for term in counts if term in self._columns}
            weights = {
                term: (1 + log(n)) * (self._rarities[known[term]] if term in known else self._rarest)
                for term, n in counts.items()
            }
            length = sqrt(sum(weight * weight for weight in weights.values()))
            terms.columns.extend(known.values())
            terms.weights.extend(weights[term] / length for term in known)
        return terms

    def compare(self, terms: Terms) -> Numbers:
        """How much each of the texts has in common with another one: 2 for the same text."""
        if self._by_term is None:
            self._by_term = self.matrix.tocsc()
        rows, weights, ends = self._by_term.indices, self._by_term.data, self._by_term.indptr
        shared = np.zeros(self.matrix.shape[0], np.float32)
        for column, weight in zip(*terms, strict=True):
            part = slice(ends[column], ends[column + 1])
            shared[rows[part]] += weight * weights[part]
        return shared

    def hash_texts(self) -> "csr_matrix":
        """The terms of each text in a fixed number of columns; a product of two rows is nearly what they share."""
        from scipy.sparse import csr_matrix

        terms = self.matrix
        weights = self._signs[terms.indices]
        weights *= terms.data
        return csr_matrix((weights, self._places[terms.indices], terms.indptr), shape=(terms.shape[0], _COLUMNS))

    def hash_terms(self, terms: Terms) -> Numbers:
        """The terms of another text in the same columns."""
        hashed = np.zeros(_COLUMNS, np.float32)
        for column, weight in zip(*terms, strict=True):
            hashed[self._places[column]] += self._signs[column] * weight
        return hashed

    def _count(self, text: str, *, is_kept: bool = True) -> tuple[Counter[str], Counter[str]]:
        """How often each term is in a text: of its words, where synonyms add one of their own, and of its letters."""
        words, letters = (_count_kept_terms if is_kept else _count_terms)(text)
        if self._synonyms:
            same = [self._synonyms[word] for word in words if word in self._synonyms]
            words = words + Counter(f"={term}" for term in same)
        return words, letters


def spell_beginning(text: str) -> str:
    """A text with a small first letter and without its full stop."""
    return text[:1].lower() + text[1:].rstrip(_LAST_SIGNS)


def _stack(columns: "array[int]", counts: "array[int]", sizes: "array[int]", rarities: Numbers) -> "csr_matrix":
    """The weighed terms of texts as rows; each text has two groups of terms. Little is in memory besides the result."""
    from scipy.sparse import csr_matrix

    indices, ends = np.array(columns, np.int32), np.cumsum([0, *sizes])
    weights = np.array(counts, np.float32)
    np.log(weights, out=weights)
    weights += 1
    weights *= rarities[indices]
    # With a number behind the last one, where empty groups at the end begin.
    squares = np.append(weights * weights, np.float32(0))
    lengths = np.sqrt(np.add.reduceat(squares, ends[:-1], dtype=np.float64))
    weights /= np.repeat(lengths, sizes).astype(np.float32)
    return csr_matrix((weights, indices, ends[::2]), shape=(len(sizes) // 2, len(rarities)))


def _count_terms(text: str) -> tuple[Counter[str], Counter[str]]:
    """How often each word and pair of words is in a text, and each run of letters, told apart by its mark."""
    words = [word.key for word in split_text(text) if not word.is_sign][:_MOST_WORDS]
    pairs = (f"{first} {second}" for first, second in pairwise(words))
    letters = (
        f"~{word[start : start + size]}"
        for word in (f" {word} " for word in words)
        for size in range(_FEWEST_LETTERS, _MOST_LETTERS + 1)
        for start in range(max(1, len(word) - size + 1))
    )
    return Counter([*words, *pairs]), Counter(letters)


_count_kept_terms = lru_cache(_KEPT)(_count_terms)


def _map_synonyms(synonyms: Synonyms) -> Mapping[str, str]:
    """The first of the words that mean the same, by each of them; words of one group share this term."""
    mapped: dict[str, str] = {}
    for group in synonyms:
        keys = [key for text in group if (key := " ".join(word.key for word in split_text(text) if not word.is_sign))]
        if keys:
            mapped |= dict.fromkeys(keys, keys[0])
    return mapped
