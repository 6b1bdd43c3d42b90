"""What a row asks of a text, for all ways in which rows test texts: judged by the engine, searched here."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations, product
from typing import NamedTuple

from config_admin.health.texts import machine as machines
from config_admin.health.texts.machine import Machine
from config_admin.health.texts.samples import samples
from config_admin.health.texts.search import MAX_STATES, search
from config_admin.health.texts.syntax import Unreadable, quoted
from convengine.domain.text import norm
from convengine.rules import bank
from convengine.rules.patterns import PatternError, compile_pattern

#: The whole text fits the pattern, as `=~` asks; and the same with case told apart.
FITS, FITS_CASE = "FITS", "FITS_CASE"
_WORD = re.compile(r"[^\W\d_]{3,}")
_SPACE = r"[\t-\r\x{1c}-\x{1f}\x{85}\p{Z}]*"
#: Letters that other characters fold to as a pair: an exact text with one of them equals texts that no pattern finds.
_LIGATURES = ("ss", "ff", "fi", "fl", "st")
#: How many samples of each row are joined, at most, and how many rows.
_JOINED, _JOINED_ROWS = 3, 3


class Text(NamedTuple):
    """A text that was found. `joined`: it is a text of each row, one behind the other, with nothing in common."""

    text: str
    joined: bool = False


@dataclass(frozen=True)
class Wish:
    """A test of a text: `kind` is one of the bank's (REGEX, CONTAINS, …) or one of the above."""

    kind: str
    pattern: str

    def holds(self, text: str) -> bool:
        """Whether the engine's own matcher says yes."""
        return _holds(self.kind, self.pattern, text)

    @property
    def machine(self) -> Machine:
        """The machine that reads texts for it. Raises Unreadable."""
        whole = self.kind in (FITS, FITS_CASE, bank.EXACT, bank.RULE_EXACT)
        return machines.machine(self._source, whole, self.kind != FITS_CASE)

    @property
    def _source(self) -> str:
        """The test as a pattern that RE2 takes."""
        try:
            return _source(self.kind, self.pattern)
        except PatternError as error:
            raise Unreadable(error.reason) from None

    @property
    def is_regular(self) -> bool:
        """True when its machine says just what the engine says, so that a search over it can prove something."""
        if self.kind == bank.RULE_EXACT:
            text = bank.folded(self.pattern)
            return self._always or (text.isascii() and not any(pair in text for pair in _LIGATURES))
        return self.kind in (bank.REGEX, FITS, FITS_CASE)

    @property
    def _always(self) -> bool:
        return self.kind == bank.RULE_EXACT and bank.folded(self.pattern) == bank.folded(bank.ANY)

    @property
    def words(self) -> tuple[str, ...]:
        """The words of its samples, in lower case; none where it is not about words, or cannot be read."""
        try:
            return _words(self.samples)
        except Unreadable:
            return ()

    @property
    def samples(self) -> tuple[str, ...]:
        """Texts that fulfil it, short and natural ones."""
        if self._always:
            return ("hello",)
        if self.kind not in (bank.REGEX, FITS, FITS_CASE):
            return (self.pattern.strip(),)
        return _own(self.kind, self.pattern, self._source)


@lru_cache(maxsize=8192)
def _words(samples: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word.lower() for text in samples for word in _WORD.findall(text)))


@lru_cache(maxsize=8192)
def _own(kind: str, pattern: str, source: str) -> tuple[str, ...]:
    return tuple(text for text in samples(source, kind != FITS_CASE) if _holds(kind, pattern, text))


@lru_cache(maxsize=65536)
def _holds(kind: str, pattern: str, text: str) -> bool:
    if kind in (bank.REGEX, FITS, FITS_CASE):
        try:
            compiled = compile_pattern(pattern, ignore_case=kind != FITS_CASE)
        except PatternError:
            return False
        return compiled.found(text) if kind == bank.REGEX else compiled.fits(text)
    if kind == bank.RULE_EXACT:
        # A rule's text may be blank, too.
        return bank.folded(pattern) != "" and bank.folded(pattern) in (bank.folded(bank.ANY), bank.folded(text))
    return bank.single(kind, pattern, text)


def _source(kind: str, pattern: str) -> str:
    match kind:
        case bank.REGEX | "FITS" | "FITS_CASE":
            return compile_pattern(pattern, ignore_case=kind != FITS_CASE).source
        case bank.RULE_EXACT:
            always = bank.folded(pattern) == bank.folded(bank.ANY)
            return "(?s).*" if always else f"{_SPACE}{quoted(pattern.strip())}{_SPACE}"
    words = r"\s+".join(map(quoted, norm(pattern).split(" ")))
    start = r"\A\s*" if kind == bank.STARTS_WITH else ""
    return rf"\s*{words}\s*" if kind == bank.EXACT else start + words


def text_for(
    wanted: Sequence[Wish], unwanted: Sequence[Wish] = (), *, closest: bool = False, limit: int = MAX_STATES
) -> Text | None:
    """A text that all that is wanted holds for and nothing that is not; null when the search finds none.

    Samples come first, and texts made of two that share words. `closest`: when only one behind the other would do,
    the patterns are searched for something that they have more in common.
    """
    if not wanted and not any(wish.holds("hello") for wish in unwanted):
        return Text("hello")
    natural = next((text for text in _natural(wanted) if _serves(text.text, wanted, unwanted)), None)
    if natural and not (natural.joined and closest):
        return natural
    try:
        machines = [wish.machine for wish in wanted], [wish.machine for wish in unwanted]
    except Unreadable:
        return natural
    found = search(*machines, limit=limit).text
    if found is None or not _serves(found, wanted, unwanted):
        return natural
    # What two patterns have in common is shorter than one text of each behind the other.
    return natural if natural and len(found) >= len(natural.text) - len(wanted) else Text(found)


def never(wanted: Sequence[Wish], unwanted: Sequence[Wish] = ()) -> bool:
    """True when it is proven that no text fulfils all that is wanted and nothing that is not."""
    if not all(wish.is_regular for wish in (*wanted, *unwanted)):
        return False
    if any(_serves(text.text, wanted, unwanted) for text in _natural(wanted)):
        return False
    try:
        machines = [wish.machine for wish in wanted], [wish.machine for wish in unwanted]
    except Unreadable:
        return False
    return search(*machines, complete=True).exhausted


def _natural(wanted: Sequence[Wish]) -> Iterator[Text]:
    try:
        own = [wish.samples for wish in wanted]
    except Unreadable:
        return
    yield from (Text(text) for found in own for text in found)
    if len(own) == 2:
        for one, other in product(*(found[:_JOINED] for found in own)):
            yield from (Text(text) for text in (merged(one, other), merged(other, one)) if text)
    if 1 < len(own) <= _JOINED_ROWS:
        for order in permutations(own):
            yield from _joined(order)


@lru_cache(maxsize=4096)
def merged(one: str, other: str) -> str | None:
    """A shortest text with the words of both in their order, those of the first before the others where that is free.

    Null when they share no word.
    """
    first, second = tuple(one.split()), tuple(other.split())
    if not {*first} & {*second}:
        return None
    return " ".join(_merged(first, second))


@lru_cache(maxsize=16384)
def _merged(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    if not first or not second:
        return first or second
    if first[0] == second[0]:
        return (first[0], *_merged(first[1:], second[1:]))
    ways = (first[0], *_merged(first[1:], second)), (second[0], *_merged(first, second[1:]))
    return min(ways, key=len)


def _joined(own: Sequence[tuple[str, ...]], said: str = "") -> Iterator[Text]:
    if not own:
        yield Text(said.strip(), joined=True)
        return
    for text in own[0][:_JOINED]:
        yield from _joined(own[1:], f"{said} {text}")


def _serves(text: str, wanted: Sequence[Wish], unwanted: Sequence[Wish]) -> bool:
    return all(wish.holds(text) for wish in wanted) and not any(wish.holds(text) for wish in unwanted)
