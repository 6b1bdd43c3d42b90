"""What a row asks of a text, for all ways in which rows test texts: judged by the engine, searched here."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations
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
    def samples(self) -> tuple[str, ...]:
        """Texts that fulfil it, short and natural ones."""
        if self._always:
            return ("hello",)
        if self.kind not in (bank.REGEX, FITS, FITS_CASE):
            return (self.pattern.strip(),)
        return _own(self.kind, self.pattern, self._source)


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
    blank_texts = kind == bank.RULE_EXACT
    return bool(bank.bank_of(((0, kind, pattern),), blank_texts=blank_texts).hits(text))


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


def text_for(wanted: Sequence[Wish], unwanted: Sequence[Wish] = (), limit: int = MAX_STATES) -> Text | None:
    """A text that all that is wanted holds for and nothing that is not; null when the search finds none."""
    if not wanted and not any(wish.holds("hello") for wish in unwanted):
        return Text("hello")
    natural = next((text for text in _natural(wanted) if _serves(text.text, wanted, unwanted)), None)
    if natural and not natural.joined:
        return natural
    try:
        machines = [wish.machine for wish in wanted], [wish.machine for wish in unwanted]
    except Unreadable:
        return natural
    found = search(*machines, limit=limit).text
    if found is None or not _serves(found, wanted, unwanted):
        return natural
    # What two patterns have in common is shorter than one text of each behind the other.
    if natural and len(found) >= len(natural.text) - len(wanted):
        return natural
    return Text(found)


def never(wanted: Sequence[Wish], unwanted: Sequence[Wish] = ()) -> bool:
    """True when it is proven that no text fulfils all that is wanted and nothing that is not."""
    if not all(wish.is_regular for wish in (*wanted, *unwanted)):
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
    if 1 < len(own) <= _JOINED_ROWS:
        for order in permutations(own):
            yield from _joined(order)


def _joined(own: Sequence[tuple[str, ...]], said: str = "") -> Iterator[Text]:
    if not own:
        yield Text(said.strip(), joined=True)
        return
    for text in own[0][:_JOINED]:
        yield from _joined(own[1:], f"{said} {text}")


def _serves(text: str, wanted: Sequence[Wish], unwanted: Sequence[Wish]) -> bool:
    return all(wish.holds(text) for wish in wanted) and not any(wish.holds(text) for wish in unwanted)
