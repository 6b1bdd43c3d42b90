"""Short natural texts for a pattern; the engine decides whether it matches."""

from collections.abc import Iterator
from functools import lru_cache
from itertools import islice, product

from config_admin.health.texts import characters
from config_admin.health.texts.pattern_tree import Alternation, Assertion, Atom, Concatenation, Node, Repetition, parse

#: Maximum texts per pattern, and per part.
MAX_SAMPLES, _OF_A_PART = 8, 4


@lru_cache(maxsize=8192)
def samples(source: str, ignore_case: bool = True) -> tuple[str, ...]:
    """Texts made from a pattern in RE2 form, shortest first. Raises UnsupportedPattern."""
    found = {" ".join(text.split()) for text in islice(_texts(parse(source), ignore_case), MAX_SAMPLES)}
    return tuple(sorted(found, key=lambda text: (len(text), text)))


def _texts(node: Node, ignore_case: bool) -> Iterator[str]:
    match node:
        case Assertion():
            yield ""
        case Atom(text):
            char = characters.sample(text, ignore_case)
            if char is not None:
                yield char
        case Alternation(parts):
            for part in parts:
                yield from islice(_texts(part, ignore_case), _OF_A_PART)
        case Concatenation(parts):
            made = [list(islice(_texts(part, ignore_case), _OF_A_PART)) for part in parts]
            yield from ("".join(pieces) for pieces in islice(product(*made), MAX_SAMPLES))
        case Repetition(part, low, _):
            if low == 0 and isinstance(part, Atom) and characters.takes(part.text, ignore_case, " "):
                # Anything is a gap between words.
                yield " "
            elif low == 0:
                yield ""
            for text in islice(_texts(part, ignore_case), _OF_A_PART):
                yield text * max(low, 1)
