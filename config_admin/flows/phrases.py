"""Make a pattern from an example sentence: its important words, in any script, in order."""

import re
from collections.abc import Sequence

from convengine.engine.rules.patterns import PatternError, compile_pattern
from convengine.engine.text.words import split_list

#: Words that anybody uses in any sentence.
_COMMON = split_list("a an the my our i we to of for is it me can could you would like want id please with some do get")
#: Letters with combining marks of some scripts.
_WORD = re.compile(r"[\w'’\u0300-\u036f\u0900-\u0dff\u0e00-\u0eff-]+")


def pattern(phrase: str) -> str:
    """A regular expression for the important words of a sentence, in order, with anything between.

    A sentence without words, or without important ones, is searched for as it is.
    """
    said = [word for found in _WORD.findall(phrase.lower()) if (word := found.strip("'’-"))]
    if not said:
        return re.escape(phrase)
    found = _in_order([word for word in said if word not in _COMMON] or said)
    try:
        return found if compile_pattern(found).occurs_in(phrase) else re.escape(phrase)
    except PatternError:
        # It is too long; the save checks report that.
        return found


def _in_order(words: Sequence[str]) -> str:
    r"""The words, each as a whole word. RE2's `\b` knows ASCII only: other letters need a non-letter beside them."""
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
