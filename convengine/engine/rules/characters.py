"""Which characters an atom of a pattern matches, according to RE2, and characters that represent all others."""

import re
from functools import cache, lru_cache
from itertools import chain
from typing import Any

import re2

from convengine.engine.rules.patterns import build_options

#: Characters to choose from, most common first.
USUAL = "abcdefghijklmnopqrstuvwxyz 0123456789.,?!'-:;/@#%&()+*=_\"$<>[]{}|~^`\\ABCDEFGHIJKLMNOPQRSTUVWXYZ\n\t\r"
#: Characters of other scripts, and such as fold to ASCII letters.
UNUSUAL = "éüßñçøåœąžЯяжαΩ中日あ한اع٣½²€£°–…’“\u00a0\u0301😀ſ\u212a"
#: Characters at the borders between kinds.
KIND_EDGES = "\x01\n\x0b0:A[_`a{"
_LITERAL = re.compile(r"\\?(?P<char>[^\\])", re.DOTALL)
#: Letters that match ASCII ones if case does not matter.
_FOLDING = "ſ\u212a"


def kind_of(char: str) -> str:
    """W for a word character at a boundary, N for a line end, O for all others."""
    return "N" if char == "\n" else "W" if char.isascii() and (char.isalnum() or char == "_") else "O"


@lru_cache(maxsize=65536)
def takes(atom: str, ignore_case: bool, char: str) -> bool:
    return _compile(atom, ignore_case).fullmatch(char.encode()) is not None


def literal(atom: str) -> str:
    """The character of a literal atom; nothing for a class, a dot or an escape."""
    match = _LITERAL.fullmatch(atom)
    return match["char"] if match and atom != "." and (atom == match["char"] or not match["char"].isalnum()) else ""


@lru_cache(maxsize=4096)
def sample(atom: str, ignore_case: bool) -> str | None:
    """A character that the atom matches: a literal one, else the most common. Returns None when there is none."""
    if char := literal(atom):
        return char
    candidates = chain("1", USUAL, UNUSUAL)
    usual = next((char for char in candidates if takes(atom, ignore_case, char)), None)
    return usual or next((char for char in edges(atom, ignore_case) if takes(atom, ignore_case, char)), None)


@lru_cache(maxsize=4096)
def edges(atom: str, ignore_case: bool) -> tuple[str, ...]:
    """The first characters of each run that the atom matches, and the first after each run."""
    char = literal(atom)
    if char and char.isascii():
        # It has few forms: naming them is a hundred times as fast as testing all characters.
        runs = [(form, form) for form in {char.lower(), char.upper(), *_FOLDING}]
    else:
        text = _all_characters()
        spans = (match.span() for match in _compile(f"(?:{atom})+", ignore_case).finditer(text))
        runs = [(run[0], run[-1]) for run in (text[start:end].decode() for start, end in spans)]
    points = sorted({point for first, last in runs for point in (ord(first), ord(last) + 1)})
    return tuple(chr(point) for point in points if point < 0xD800 or 0xE000 <= point < 0x110000)


@cache
def _all_characters() -> bytes:
    return "".join(chain(map(chr, range(1, 0xD800)), map(chr, range(0xE000, 0x110000)))).encode()


@lru_cache(maxsize=4096)
def _compile(atom: str, ignore_case: bool) -> Any:
    return re2.compile(atom, build_options(ignore_case=ignore_case))
