"""A message as words: folded, with their positions, and mended where they are one slip away from a known word."""

import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Protocol

from convengine.engine.cached_property import cached_property

#: No more characters and words of a message are read: what is longer is a letter, and no answer.
MOST_CHARS, MOST_WORDS = 1000, 200
#: The maximum number of words of a message that are mended, and the length of the shortest such word.
_MOST_MENDED, _SHORTEST_MENDED = 40, 3
#: The length of the shortest word of a compound.
_SHORTEST_PART = 2
#: The first word of a compound, and the rest of it: the last word, or a compound.
_Compound = tuple[str, "_Compound | None"]
_APOSTROPHES = "'’‘ʼ`´"
_DASHES = "-–—−‐‑"
_VOWELS = "aeiou"
_VOWELS_BEFORE_DIGRAPH = "aeqou"


@dataclass(frozen=True, slots=True)
class Word:
    """A word, a number in digits, or a sign."""

    #: Folded, and spelled as the tables spell it: what everything compares.
    key: str
    start: int
    end: int
    #: No blank before it: "3pm" is two words.
    is_glued: bool = False
    #: One slip away from `key`.
    is_mended: bool = False

    @property
    def is_number(self) -> bool:
        return self.key.isdecimal()

    @property
    def is_sign(self) -> bool:
        return not self.key[0].isalnum()


class Extent(Protocol):
    """A part of a message, from one word up to another."""

    @property
    def start(self) -> int: ...

    @property
    def end(self) -> int: ...


def cover(parts: Iterable[Extent]) -> set[int]:
    """The words of some parts of a message."""
    return {index for part in parts for index in range(part.start, part.end)}


def is_within(part: Extent, whole: Extent) -> bool:
    return whole.start <= part.start and part.end <= whole.end


def is_part(part: Extent, whole: Extent) -> bool:
    return is_within(part, whole) and part.end - part.start < whole.end - whole.start


@lru_cache(maxsize=8192)
def fold(word: str) -> str:
    """A word as it is compared: lower case, no accents; u for ü and for ue, ss for ß.

    The e of ae, oe and ue is dropped, but for one behind another vowel or a q.
    """
    word = "".join("'" if char in _APOSTROPHES else char for char in word)
    decomposed = unicodedata.normalize("NFKD", word).casefold()
    plain = "".join(char for char in decomposed if not unicodedata.combining(char))
    if plain.isdecimal():
        return plain
    return "".join(
        char
        for index, char in enumerate(plain)
        if char != "e"
        or plain[index - 1 : index] not in ("a", "o", "u")
        or (index > 1 and plain[index - 2] in _VOWELS_BEFORE_DIGRAPH)
    )


@lru_cache(maxsize=64)
def split_text(text: str) -> tuple[Word, ...]:
    """The words, numbers and signs of a text as they are typed, with folded keys.

    Reading ends after MOST_CHARS characters or about MOST_WORDS words. Blanks and silent signs are left out.
    """
    words: list[Word] = []
    start, size = 0, min(len(text), MOST_CHARS)
    while start < size and len(words) < MOST_WORDS:
        end = _find_end(text, start, size)
        # Some signs only change how another one looks, such as the colour of a thumb.
        is_silent = unicodedata.category(text[start]) in ("Mn", "Cf", "Cc", "Sk") and text[start] not in _APOSTROPHES
        if not text[start].isspace() and not is_silent:
            key = "-" if text[start] in _DASHES else fold(text[start:end])
            is_glued = bool(words) and words[-1].end == start
            # "½" is "1/2". Signs that are no more than accents have no parts.
            first, sign, second = key.partition("\u2044")
            parts = [part for part in (first, "/" if sign else "", second) if part]
            words += [Word(part, start, end, is_glued or number > 0) for number, part in enumerate(parts)]
        start = end
    return tuple(words)


def _find_end(text: str, start: int, size: int) -> int:
    """The end of the word, number or single sign that begins at `start`, at most `size`."""
    first, end = text[start], start + 1
    if first.isdecimal():
        while end < size and text[end].isdecimal():
            end += 1
    elif first.isalpha():
        while end < size and (
            text[end].isalpha()
            or (text[end] in _APOSTROPHES and text[end + 1 : min(end + 2, size)].isalpha())  # "Don't"
            or unicodedata.combining(text[end])
        ):
            end += 1
    return end


class Lexicon:
    """The words that a message is compared with: those of the languages, then those of forms and phrases."""

    def __init__(
        self,
        known: Collection[str],
        *,
        spelling: Mapping[str, str] | None = None,
        compounds: Sequence[tuple[Collection[str], Collection[str]]] = (),
        base: "Lexicon | None" = None,
        kept_words: Collection[str] = (),
        typed: Collection[str] = (),
    ) -> None:
        """`kept_words`: those that are only mended to `known` ones, and that none is mended to.

        `typed`: those of the `known` words that none is mended to.
        """
        self.base = base
        self._typed = typed
        self._kept_words = kept_words
        self.known = frozenset(known)
        self._longest = max(map(len, known), default=0)
        own = dict(spelling or {})
        for word in known:
            if "'" in word and (plain := word.replace("'", "")) not in self.known:
                own.setdefault(plain, word)
        self._spelling = own
        self._compounds = compounds
        #: By the first word of a compound: the rows that have it, by their indexes.
        self._rows_by_first: dict[str, list[int]] = {}
        for row, (firsts, _) in enumerate(self._compounds):
            for word in firsts:
                self._rows_by_first.setdefault(word, []).append(row)
        self._longest_part = max((len(word) for row in self._compounds for words in row for word in words), default=0)

    def has(self, key: str) -> bool:
        return key in self.known or (self.base is not None and self.base.has(key))

    def spell(self, key: str) -> str | None:
        """The known word that this one is another spelling of: "tmrw", "dont", "soooo".

        Returns None if there is none.
        """
        own = self._spelling.get(key) or (self.base.spell(key) if self.base else None)
        if own is not None:
            return own
        if key in self._kept_words and not self._list_own_near(key):
            return key
        # "Jaa" has a vowel at its end that stands there twice.
        end = key[:-1] if len(key) > 2 and key[-1] == key[-2] and key[-1] in _VOWELS else key
        shorter_forms = (_shorten_runs(key, 2), _shorten_runs(key, 1), end)
        return next((shorter for shorter in shorter_forms if shorter != key and self.has(shorter)), None)

    def split(self, key: str) -> tuple[str, ...] | None:
        """The words of a compound: "Freitagnachmittag". Returns None for other words.

        From the end on, each letter is tried once as the beginning of a compound, with words up to the longest one.
        """
        compounds: dict[int, _Compound] = {}
        for start in range(len(key) - 2 * _SHORTEST_PART, -1, -1) if self._compounds else ():
            way = min(self._list_ways(key, start, compounds), key=lambda way: way[:2], default=None)
            if way is not None:
                compounds[start] = way[2]
        if 0 not in compounds:
            return self.base.split(key) if self.base else None
        words, rest = list[str](), compounds.get(0)
        while rest:
            word, rest = rest
            words.append(word)
        return tuple(words)

    def _list_ways(
        self, key: str, start: int, compounds: Mapping[int, "_Compound"]
    ) -> Iterator[tuple[int, int, "_Compound"]]:
        """The compounds that begin at a letter, each with its row and the end of its first word."""
        for end in range(start + _SHORTEST_PART, min(start + self._longest_part, len(key) - _SHORTEST_PART) + 1):
            word = key[start:end]
            #: What follows: the last word, then a compound.
            rests: list[_Compound] = [(key[end:], None)] if len(key) - end <= self._longest_part else []
            rests += [compounds[end]] if end in compounds else []
            for row in self._rows_by_first.get(word, ()):
                yield from ((row, end, (word, rest)) for rest in rests if rest[0] in self._compounds[row][1])

    def mend(self, key: str) -> str | None:
        """The only known word that is one slip away; of several the one with the same letters: "nien" is "nein".

        Returns None if no word is near or several are equally near, and for signs, numbers and very short words.
        """
        if len(key) < _SHORTEST_MENDED or not key.isalpha():
            return None
        near_words = self._list_near(key)
        alike = {word for word in near_words if sorted(word) == sorted(key)}
        alike = alike or {word for word in near_words if set(word) == set(key)} or near_words
        return alike.pop() if len(alike) == 1 else None

    def _list_near(self, key: str) -> set[str]:
        near = self._list_own_near(key)
        return near | self.base._list_near(key) if self.base else near

    def _list_own_near(self, key: str) -> set[str]:
        # No slip makes a word two letters longer, and a long one has many forms.
        forms = (key, *_drop_letters(key)) if len(key) <= self._longest + 1 else ()
        return {word for form in forms for word in self._slips.get(form, ()) if _is_slip(key, word)}

    @cached_property
    def _slips(self) -> dict[str, list[str]]:
        """The known words by themselves and by each form with one letter less."""
        slips: dict[str, list[str]] = {}
        for word in self.known.difference(self._typed):
            if len(word) >= _SHORTEST_MENDED and word.isalpha():
                for form in {word, *_drop_letters(word)}:
                    slips.setdefault(form, []).append(word)
        return slips


def has_same_letters(word: Word, text: str) -> bool:
    """True for a word of a text that has the letters of what it is mended to: "yse", "yess"."""
    return set(fold(text[word.start : word.end])) == set(word.key)


def _drop_letters(word: str) -> Iterator[str]:
    return (word[:index] + word[index + 1 :] for index in range(len(word)))


def _is_slip(word: str, other: str) -> bool:
    """True for one letter too many, missing or wrong, and for two neighbours that changed places.

    The first letter must be one of the first two of `other`. A word of three letters with other letters is another
    word: "NYC" is no "nye", and "true" no "tue".
    """
    from rapidfuzz.distance import OSA

    if min(len(word), len(other)) <= _SHORTEST_MENDED and set(word) != set(other):
        return False
    return word[0] in other[:2] and OSA.distance(word, other, score_cutoff=1) == 1


def _shorten_runs(word: str, longest: int) -> str:
    """The word with runs of three or more of the same letter cut to `longest`."""
    parts: list[str] = []
    index = 0
    while index < len(word):
        end = index
        while end < len(word) and word[end] == word[index]:
            end += 1
        parts.append(word[index] * (min(longest, end - index) if end - index > 2 else end - index))
        index = end
    return "".join(parts)


def read_words(text: str, lexicon: Lexicon) -> tuple[Word, ...]:
    """The words of a message, spelled as the lexicon spells them.

    Compounds and "'s" become words of their own. At most `_MOST_MENDED` words with a slip are mended.
    """
    words: list[Word] = []
    mended = 0
    for word in split_text(text):
        if word.key.endswith("'s") and not lexicon.has(word.key) and lexicon.has(word.key[:-2]):
            base = replace(word, key=word.key[:-2], end=word.end - 2)
            words += [base, replace(word, key="'s", start=word.end - 2, is_glued=True)]
        elif not word.key[0].isalpha() or lexicon.has(word.key):
            words.append(word)
        elif spelled := lexicon.spell(word.key):
            words.append(replace(word, key=spelled))
        elif parts := lexicon.split(word.key):
            words += [
                replace(word, key=part, is_glued=word.is_glued and not number) for number, part in enumerate(parts)
            ]
        elif mended < _MOST_MENDED and (known := lexicon.mend(word.key)):
            mended += 1
            words.append(replace(word, key=known, is_mended=True))
        else:
            words.append(word)
    return tuple(words)
