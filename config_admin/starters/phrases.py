"""What a phrase, as people write it, is known by: its telling words, in any script, in their order."""

import re
from collections.abc import Sequence

from convengine.rules.patterns import PatternError, compile_pattern
from convengine.schemas.words import listed

#: Words of a phrase that anybody says with anything.
_COMMON = listed("a an the my our i we to of for is it me can could you would like want id please with some do get")
#: Letters with the marks that they carry in some scripts.
_WORD = re.compile(r"[\w'’\u0300-\u036f\u0900-\u0dff\u0e00-\u0eff-]+")


def pattern(phrase: str) -> str:
    """A regular expression for the telling words of a phrase, in their order, whatever stands between.

    A phrase of no words, such as a picture, and one of which its words do not say enough, is looked for as it is.
    """
    said = [word for found in _WORD.findall(phrase.lower()) if (word := found.strip("'’-"))]
    if not said:
        return re.escape(phrase)
    found = _in_order([word for word in said if word not in _COMMON] or said)
    try:
        return found if compile_pattern(found).found(phrase) else re.escape(phrase)
    except PatternError:
        # It is too long, which the save checks tell.
        return found


def _in_order(words: Sequence[str]) -> str:
    r"""The words, each whole. RE2's `\b` knows ASCII alone: beside other letters stands what is no letter."""
    found = ""
    for word, following in zip(words, [*words[1:], ""], strict=True):
        found += "" if found else _edge(word[0], r"(?:^|\W)")
        found += re.escape(word)
        ends = _edge(word[-1], r"\W")
        if not following:
            found += _edge(word[-1], r"(?:\W|$)")
        elif (begins := _edge(following[0], r"\W")) == ends == r"\W":
            found += r"\W(?:.*\W)?"
        else:
            found += f"{ends}.*{begins}"
    return found


def _edge(letter: str, otherwise: str) -> str:
    return r"\b" if letter.isascii() else otherwise
