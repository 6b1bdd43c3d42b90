"""How well a message fits an intent by its phrases, in words: what matches, and how much must."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from convengine.engine.text.compare import shorten
from convengine.engine.turn import live_settings
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.understanding.phrases.settings import MARGIN, MIN_SCORE


def describe_match(name: str, match: Mapping[str, Any], text: str | None) -> str:
    """How well the message fits, by which phrase and which of its words. `match` is as events record it."""
    words, others = _list_words(match["words"], text), match["otherWords"]
    missing = f" No phrase of it has {_list_words(others, text)}." if others else ""
    return f"{name}: {match['score']:.2f} of the words match “{shorten(match['phrase'], 60)}”: {words}.{missing}"


def describe_needed_score(snapshot: Snapshot, needed: float, scores: Sequence[float]) -> str:
    """How much must match, and why. `scores`: those of the intents that count, the first one's first."""
    minimum, margin = live_settings.read(snapshot, MIN_SCORE).value, live_settings.read(snapshot, MARGIN).value
    if scores and scores[0] < needed:
        return f"Usually {needed:.2f} must match. Less is enough here, because no other intent is near."
    if scores and needed > minimum:
        reason = f"because the best intent has {max(scores):.2f}: others count up to {margin:.2f} below it"
        return f"{needed:.2f} must match, {reason}."
    return f"{needed:.2f} must match, the minimum for all intents."


def _list_words(words: Iterable[str], text: str | None) -> str:
    return ", ".join(_find_word(word, text) for word in words)


def _find_word(word: str, text: str | None) -> str:
    """The word as the message has it: howmuch is how much."""
    written = re.search(r"[\s'’-]*".join(map(re.escape, word)), text or "", re.IGNORECASE)
    return f"“{written[0] if written else word}”"
