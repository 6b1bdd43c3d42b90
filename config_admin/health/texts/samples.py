"""Short texts that a pattern is likely to mean, as a person would type them; whether it holds, the engine says."""

from collections.abc import Iterator
from functools import lru_cache
from itertools import islice, product

from config_admin.health.texts import letters
from config_admin.health.texts.syntax import Atom, Choice, Look, Node, Repeat, Sequence, parse

#: How many texts are made of a pattern, and how many of each of its parts.
MAX_SAMPLES, _OF_A_PART = 8, 4


@lru_cache(maxsize=8192)
def samples(source: str, ignore_case: bool = True) -> tuple[str, ...]:
    """Texts made of a pattern as RE2 gets it, the shortest first. Raises Unreadable."""
    found = {" ".join(text.split()) for text in islice(_texts(parse(source), ignore_case), MAX_SAMPLES)}
    return tuple(sorted(found, key=lambda text: (len(text), text)))


def _texts(node: Node, ignore_case: bool) -> Iterator[str]:
    match node:
        case Look():
            yield ""
        case Atom(text):
            char = letters.one_of(text, ignore_case)
            if char is not None:
                yield char
        case Choice(parts):
            for part in parts:
                yield from islice(_texts(part, ignore_case), _OF_A_PART)
        case Sequence(parts):
            made = [list(islice(_texts(part, ignore_case), _OF_A_PART)) for part in parts]
            yield from ("".join(pieces) for pieces in islice(product(*made), MAX_SAMPLES))
        case Repeat(part, low, _):
            if low == 0 and isinstance(part, Atom) and letters.takes(part.text, ignore_case, " "):
                # What may be anything is a gap between words.
                yield " "
            elif low == 0:
                yield ""
            for text in islice(_texts(part, ignore_case), _OF_A_PART):
                yield text * max(low, 1)
