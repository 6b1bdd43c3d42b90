"""A row's test of a text, for all types of tests: evaluated by the engine, searched here."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations, product
from typing import NamedTuple

from config_admin.health.texts.product_search import MAX_STATES, Automaton, automaton, search
from convengine.engine.rules import text_bank
from convengine.engine.rules.pattern_examples import samples
from convengine.engine.rules.pattern_tree import UnsupportedPattern, quote
from convengine.engine.rules.patterns import PatternError, compile_pattern
from convengine.engine.text.compare import norm

#: The pattern matches the whole text, as `=~` does; and the same with case-sensitivity.
FITS, FITS_CASE = "FITS", "FITS_CASE"
_WORD = re.compile(r"[^\W\d_]{3,}")
_SPACE = r"[\t-\r\x{1c}-\x{1f}\x{85}\p{Z}]*"
#: Letter pairs that other characters fold to: an exact text with one of them equals texts that no pattern matches.
_LIGATURES = ("ss", "ff", "fi", "fl", "st")
#: Maximum samples of each row to join, and maximum rows.
_JOINED, _JOINED_ROWS = 3, 3


class Text(NamedTuple):
    """A found text. `joined`: it is a text of each row, one after the other, without anything in common."""

    text: str
    joined: bool = False


@dataclass(frozen=True)
class TextPredicate:
    """A test of a text: `kind` is one of the bank's (REGEX, CONTAINS, …) or one of the above."""

    kind: str
    pattern: str

    def holds(self, text: str) -> bool:
        """The result of the engine's own matcher."""
        return _holds(self.kind, self.pattern, text)

    @property
    def automaton(self) -> Automaton:
        """Its automaton for a search. Raises UnsupportedPattern."""
        whole = self.kind in (FITS, FITS_CASE, text_bank.EXACT, text_bank.RULE_EXACT)
        return automaton(self._source, whole, self.kind != FITS_CASE)

    @property
    def _source(self) -> str:
        """The test as a pattern for RE2. Raises UnsupportedPattern."""
        if self.kind in (text_bank.REGEX, FITS, FITS_CASE):
            try:
                return compile_pattern(self.pattern, ignore_case=self.kind != FITS_CASE).source
            except PatternError as error:
                raise UnsupportedPattern(error.reason) from None
        if self.kind == text_bank.RULE_EXACT:
            return "(?s).*" if self._is_always_true else f"{_SPACE}{quote(self.pattern.strip())}{_SPACE}"
        words = r"\s+".join(map(quote, norm(self.pattern).split(" ")))
        start = r"\A\s*" if self.kind == text_bank.STARTS_WITH else ""
        return rf"\s*{words}\s*" if self.kind == text_bank.EXACT else start + words

    @property
    def is_regular(self) -> bool:
        """True when its automaton is exactly equivalent to the engine, so that a search can prove something."""
        if self.kind == text_bank.RULE_EXACT:
            text = text_bank.fold_case(self.pattern)
            return self._is_always_true or (text.isascii() and not any(pair in text for pair in _LIGATURES))
        return self.kind in (text_bank.REGEX, FITS, FITS_CASE)

    @property
    def _is_always_true(self) -> bool:
        return self.kind == text_bank.RULE_EXACT and text_bank.is_always(self.pattern)

    @property
    def words(self) -> tuple[str, ...]:
        """The words of its samples in lower case; none if it is not about words, or unreadable."""
        try:
            return _list_words(self.samples)
        except UnsupportedPattern:
            return ()

    @property
    def samples(self) -> tuple[str, ...]:
        """Short natural texts that fulfil it."""
        if self._is_always_true:
            return ("hello",)
        if self.kind not in (text_bank.REGEX, FITS, FITS_CASE):
            return (self.pattern.strip(),)
        return _list_matching_samples(self.kind, self.pattern, self._source)


@lru_cache(maxsize=8192)
def _list_words(samples: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word.lower() for text in samples for word in _WORD.findall(text)))


@lru_cache(maxsize=8192)
def _list_matching_samples(kind: str, pattern: str, source: str) -> tuple[str, ...]:
    return tuple(text for text in samples(source, kind != FITS_CASE) if _holds(kind, pattern, text))


@lru_cache(maxsize=65536)
def _holds(kind: str, pattern: str, text: str) -> bool:
    """True when a text fulfils a pattern of this kind. An invalid pattern holds for no text."""
    if kind in (text_bank.REGEX, FITS, FITS_CASE):
        try:
            compiled = compile_pattern(pattern, ignore_case=kind != FITS_CASE)
        except PatternError:
            return False
        return compiled.occurs_in(text) if kind == text_bank.REGEX else compiled.fits(text)
    if kind == text_bank.RULE_EXACT:
        # A rule's text may be blank, too.
        return text_bank.is_exactly(pattern, text)
    return text_bank.matches_single(kind, pattern, text)


def find_text(
    wanted: Sequence[TextPredicate],
    unwanted: Sequence[TextPredicate] = (),
    *,
    closest: bool = False,
    limit: int = MAX_STATES,
) -> Text | None:
    """A text for which every wanted predicate holds and no unwanted one. Returns None when the search finds none.

    Samples come first, and texts made of two that share words. `closest`: if only one text after the other works,
    search the patterns for something that they have in common.
    """
    if not wanted and not any(predicate.holds("hello") for predicate in unwanted):
        return Text("hello")
    natural = next((text for text in _list_natural_texts(wanted) if _serves(text.text, wanted, unwanted)), None)
    if natural and not (natural.joined and closest):
        return natural
    try:
        automata = [predicate.automaton for predicate in wanted], [predicate.automaton for predicate in unwanted]
    except UnsupportedPattern:
        return natural
    shortest = search(*automata, limit=limit).text
    if shortest is None or not _serves(shortest, wanted, unwanted):
        return natural
    # A common part of two patterns is shorter than one text after the other.
    return natural if natural and len(shortest) >= len(natural.text) - len(wanted) else Text(shortest)


def is_impossible(
    wanted: Sequence[TextPredicate], unwanted: Sequence[TextPredicate] = (), *, limit: int = MAX_STATES
) -> bool:
    """True when it is proven that no text fulfils all wanted and no unwanted predicates."""
    if not all(predicate.is_regular for predicate in (*wanted, *unwanted)):
        return False
    if any(_serves(text.text, wanted, unwanted) for text in _list_natural_texts(wanted)):
        return False
    try:
        automata = [predicate.automaton for predicate in wanted], [predicate.automaton for predicate in unwanted]
    except UnsupportedPattern:
        return False
    return search(*automata, complete=True, limit=limit).exhausted


def includes(wider: TextPredicate, narrower: TextPredicate, *, limit: int = MAX_STATES) -> bool:
    """True when it is proven that every text that fulfils the narrower predicate fulfils the wider one, too."""
    return is_impossible([narrower], [wider], limit=limit)


def _list_natural_texts(wanted: Sequence[TextPredicate]) -> Iterator[Text]:
    """Sample texts of the predicates, alone and joined; none if a pattern is not supported."""
    try:
        own = [predicate.samples for predicate in wanted]
    except UnsupportedPattern:
        return
    yield from (Text(text) for group in own for text in group)
    if len(own) == 2:
        for first, other in product(*(texts[:_JOINED] for texts in own)):
            yield from (Text(text) for text in (merge_texts(first, other), merge_texts(other, first)) if text)
    if 1 < len(own) <= _JOINED_ROWS:
        for order in permutations(own):
            yield from _join_samples(order)


@lru_cache(maxsize=4096)
def merge_texts(text: str, other: str) -> str | None:
    """A shortest text with the words of both in order, those of the first before the others where that is free.

    Returns None when they share no word.
    """
    first, second = tuple(text.split()), tuple(other.split())
    if not {*first} & {*second}:
        return None
    return " ".join(_merge_words(first, second))


@lru_cache(maxsize=16384)
def _merge_words(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    """The shortest list with the words of both in their order; common words stand once."""
    if not first or not second:
        return first or second
    if first[0] == second[0]:
        return (first[0], *_merge_words(first[1:], second[1:]))
    ways = (first[0], *_merge_words(first[1:], second)), (second[0], *_merge_words(first, second[1:]))
    return min(ways, key=len)


def _join_samples(own: Sequence[tuple[str, ...]], prefix: str = "") -> Iterator[Text]:
    """Texts of one sample of each predicate after the other; the first `_JOINED` samples of each are used."""
    if not own:
        yield Text(prefix.strip(), joined=True)
        return
    for text in own[0][:_JOINED]:
        yield from _join_samples(own[1:], f"{prefix} {text}")


def _serves(text: str, wanted: Sequence[TextPredicate], unwanted: Sequence[TextPredicate]) -> bool:
    return all(predicate.holds(text) for predicate in wanted) and not any(
        predicate.holds(text) for predicate in unwanted
    )
