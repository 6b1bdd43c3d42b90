"""Which of several offered options a reply means (pipeline-1 9.3)."""

import re
from collections.abc import Sequence

from convengine.engine.text.compare import match_text

_WORD = re.compile(r"[^\W_]+")
#: Words that people put around the important word.
_FILLERS = frozenset(
    {
        "the", "a", "an", "one", "please", "pls", "thanks", "thx", "option", "number", "hm", "i", "d", "ll", "like",
        "want", "take", "choose", "prefer",
    }
)  # fmt: skip
_ORDINALS = {"first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3}


def select_option(reply: str | None, options: Sequence[tuple[str, str]]) -> int | None:
    """The index of the only option that the reply means, or null.

    `options` are (key, label) pairs. The reply is a number from 1, or "the second one"; the key, with blanks for
    underscores; or words that all occur in exactly one label, ignoring filler words.
    """
    text = match_text(reply)
    if not text:
        return None
    if text.isdecimal():
        # No list is so long, and Python reads no number of thousands of digits.
        number = int(text) if len(text) < 10 else 0
        return number - 1 if 1 <= number <= len(options) else None
    by_key = [index for index, (key, _) in enumerate(options) if text in (key.lower(), _words(key))]
    if len(by_key) == 1:
        return by_key[0]
    words = [word for word in _WORD.findall(text) if word not in _FILLERS]
    if not words:
        return None
    if len(words) == 1 and (words[0] in _ORDINALS or (words[0].isdecimal() and len(words[0]) < 3)):
        number = _ORDINALS.get(words[0]) or int(words[0])
        return number - 1 if 1 <= number <= len(options) else None
    by_label = [
        index
        for index, (key, label) in enumerate(options)
        if set(words) <= set(_WORD.findall(match_text(f"{key} {label}")))
    ]
    return by_label[0] if len(by_label) == 1 else None


def _words(key: str) -> str:
    return match_text(key.replace("_", " "))
