"""Texts that a pattern matches, so that sentences show what users write instead of the pattern."""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice, product

from convengine.engine.rules import characters
from convengine.engine.rules.pattern_tree import (
    Alternation,
    Assertion,
    Atom,
    Concatenation,
    Node,
    Repetition,
    UnsupportedPattern,
    parse,
)
from convengine.engine.rules.patterns import PatternError, compile_pattern

#: Maximum texts per pattern, and per part.
MAX_SAMPLES, _OF_A_PART = 8, 4
#: How many examples a sentence has, and how long each may be.
_SHOWN, _LONGEST = 3, 40
_OF_PATH = re.compile(r"/(?P<pattern>.*)/[a-zA-Z]*", re.DOTALL)


@lru_cache(maxsize=8192)
def describe_match(pattern: str, *, whole: bool = False, negated: bool = False) -> str:
    """What a text must match, such as `matches the pattern of “cancel order” or “stop order”`.

    The pattern itself where no example is readable. `whole`: the pattern matches the whole text.
    """
    examples = describe_examples(pattern, whole=whole)
    shown = pattern if len(pattern) <= _LONGEST else f"{pattern[: _LONGEST - 1]}…"
    return f"{'does not match' if negated else 'matches'} the pattern {f'of {examples}' if examples else f'/{shown}/'}"


def describe_compared_pattern(literal: str) -> str:
    """Describe the pattern of a recorded comparison: of a rule's text, or `/…/i` of a path."""
    of_path = _OF_PATH.fullmatch(literal)
    return describe_match(of_path["pattern"], whole=True) if of_path else describe_match(literal)


def describe_examples(pattern: str, *, whole: bool = False) -> str:
    """Up to three texts that match, such as `“cancel order” or “stop order”`; blank where none is readable.

    `whole`: they match from beginning to end.
    """
    try:
        compiled = compile_pattern(pattern)
        texts = [text for text in samples(compiled.source) if len(text) <= _LONGEST]
    except (PatternError, UnsupportedPattern):
        return ""
    holds = compiled.fits if whole else compiled.occurs_in
    # A digit stands for any beginning or ending.
    texts = [text for text in texts if text.strip("1") == text or text.strip("1") not in texts]
    readable = [f"“{text}”" for text in texts if any(char.isalnum() for char in text) and holds(text)]
    shown = readable[:_SHOWN]
    if len(readable) > _SHOWN:
        return f"{', '.join(shown)} …"
    return " or ".join(filter(None, (", ".join(shown[:-1]), *shown[-1:])))


@lru_cache(maxsize=8192)
def samples(source: str, ignore_case: bool = True) -> tuple[str, ...]:
    """At most MAX_SAMPLES texts made from a pattern in RE2 form, shortest first. Raises UnsupportedPattern."""
    texts = {" ".join(text.split()) for text in islice(_make_texts(parse(source), ignore_case), MAX_SAMPLES)}
    return tuple(sorted(texts, key=lambda text: (len(text), text)))


def _make_texts(node: Node, ignore_case: bool) -> Iterator[str]:
    """Texts that a part of a pattern matches, assertions aside; none if no character for it is known."""
    match node:
        case Assertion():
            yield ""
        case Atom(text):
            char = characters.sample(text, ignore_case)
            if char is not None:
                yield char
        case Alternation(parts):
            for part in parts:
                yield from islice(_make_texts(part, ignore_case), _OF_A_PART)
        case Concatenation(parts):
            made = [list(islice(_make_texts(part, ignore_case), _OF_A_PART)) for part in parts]
            yield from ("".join(pieces) for pieces in islice(product(*made), MAX_SAMPLES))
        case Repetition(part, low, _):
            if low == 0 and isinstance(part, Atom) and characters.takes(part.text, ignore_case, " "):
                # Anything is a gap between words.
                yield " "
            elif low == 0:
                yield ""
            for text in islice(_make_texts(part, ignore_case), _OF_A_PART):
                yield text * max(low, 1)
