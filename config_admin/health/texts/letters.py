"""Which characters a part of a pattern takes, asked of RE2 itself, and characters that stand for all others."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from itertools import chain

import re2

from convengine.rules.patterns import options

#: Characters to choose from, those that people write most first.
USUAL = "abcdefghijklmnopqrstuvwxyz 0123456789.,?!'-:;/@#%&()+*=_\"$<>[]{}|~^`\\ABCDEFGHIJKLMNOPQRSTUVWXYZ\n\t\r"
#: Of other scripts, and such as fold to ASCII letters.
UNUSUAL = "éüßñçøåœąžЯяжαΩ中日あ한اع٣½²€£°–…’“\u00a0\u0301😀ſ\u212a"
_LITERAL = re.compile(r"\\?(?P<char>[^\\])", re.DOTALL)
#: Letters that match ASCII ones where case does not count.
_FOLDING = "ſ\u212a"

#: First and last code points of runs, in order.
Ranges = tuple[tuple[int, int], ...]


@cache
def _everything() -> bytes:
    """Every character, in order."""
    return "".join(chain(map(chr, range(1, 0xD800)), map(chr, range(0xE000, 0x110000)))).encode()


@lru_cache(maxsize=4096)
def ranges(atom: str, ignore_case: bool) -> Ranges:
    """The characters that an atom takes."""
    literal = _LITERAL.fullmatch(atom)
    if literal and literal["char"].isascii() and (atom == literal["char"] or not literal["char"].isalnum()):
        return _of_literal(literal["char"], ignore_case) if atom != "." else _scanned(atom, ignore_case)
    return _scanned(atom, ignore_case)


def _of_literal(char: str, ignore_case: bool) -> Ranges:
    """An ASCII letter has few forms: they are asked for one by one, which is a hundred times as fast as all."""
    compiled = re2.compile(f"[\\x{{{ord(char):x}}}]", options(ignore_case=ignore_case))
    forms = {char, char.lower(), char.upper(), *_FOLDING}
    return tuple((point, point) for point in sorted(map(ord, forms)) if compiled.fullmatch(chr(point).encode()))


def _scanned(atom: str, ignore_case: bool) -> Ranges:
    text = _everything()
    compiled = re2.compile(f"(?:{atom})+", options(ignore_case=ignore_case))
    runs = (text[start:end].decode() for start, end in (match.span() for match in compiled.finditer(text)))
    return tuple(piece for run in runs for piece in _without_gap(ord(run[0]), ord(run[-1])))


def _without_gap(first: int, last: int) -> Iterator[tuple[int, int]]:
    """A run over the surrogates, which are no characters, is two."""
    if first < 0xD800 and last >= 0xE000:
        yield first, 0xD7FF
        yield 0xE000, last
    else:
        yield first, last


@lru_cache(maxsize=65536)
def takes(atom: str, ignore_case: bool, char: str) -> bool:
    """True when the atom takes the character."""
    found, point = ranges(atom, ignore_case), ord(char)
    place = bisect_right(found, (point, 0x110000)) - 1
    return place >= 0 and found[place][0] <= point <= found[place][1]


def named(atom: str) -> str:
    """The character that an atom writes out; nothing for a class, a dot or an escape."""
    literal = _LITERAL.fullmatch(atom)
    plain = literal and atom != "." and (atom == literal["char"] or not literal["char"].isalnum())
    return literal["char"] if literal and plain else ""


@lru_cache(maxsize=4096)
def one_of(atom: str, ignore_case: bool) -> str | None:
    """A character that the atom takes: the one it writes out, else the most usual; null when there is none."""
    if char := named(atom):
        return char
    usual = next((char for char in chain("1", USUAL, UNUSUAL) if takes(atom, ignore_case, char)), None)
    found = ranges(atom, ignore_case)
    return usual if usual is not None or not found else chr(found[0][0])


def all_kinds(atoms: Iterable[tuple[str, bool]]) -> tuple[str, ...]:
    """Characters such that every other is taken by the same atoms as one of them: a search over them misses nothing.

    `atoms` come with whether they ignore case. What is an ASCII word character, a line end or neither is told apart
    as well.
    """
    distinct = sorted(set(atoms))
    starts = {1, 10, 11, 0xE000, *chain.from_iterable((a, b + 1) for a, b in ((48, 57), (65, 90), (95, 95), (97, 122)))}
    for atom, ignore_case in distinct:
        for first, last in ranges(atom, ignore_case):
            starts |= {first, last + 1}
    points = sorted(point for point in starts if point < 0x110000 and not 0xD800 <= point < 0xE000)
    kinds: dict[tuple[object, ...], str] = {}
    for char in chain(USUAL, UNUSUAL, map(chr, points)):
        signature = (kind_of(char), *(takes(atom, ignore_case, char) for atom, ignore_case in distinct))
        kinds.setdefault(signature, char)
    return tuple(kinds.values())


def kind_of(char: str) -> str:
    """W for a character that counts as part of a word at a boundary, N for the end of a line, O for all others."""
    return "N" if char == "\n" else "W" if char.isascii() and (char.isalnum() or char == "_") else "O"
