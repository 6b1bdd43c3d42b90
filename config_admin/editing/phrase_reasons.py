"""Why a message fits an intent by its phrases, in words: what matches, and how much must."""

import re
from collections.abc import Iterable

from convengine.engine.text.compare import shorten
from convengine.engine.turn import live_settings
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.understanding.phrases.index import IntentMatch
from convengine.engine.understanding.phrases.matching import PhraseMatches
from convengine.engine.understanding.phrases.settings import MARGIN, MIN_SCORE


def describe_match(name: str, match: IntentMatch, text: str | None) -> str:
    """How well the message fits, by which phrase and which of its words."""
    words = _list_words((word.text for word in match.words), text)
    phrase = shorten(match.phrase.text, 60)
    others = f" No phrase of it has {_list_words(match.unmatched, text)}."
    return f"{name}: {match.score:.2f} of the words match “{phrase}”: {words}.{others if match.unmatched else ''}"


def describe_needed_score(snapshot: Snapshot, matches: PhraseMatches) -> str:
    """How much must match, and why."""
    minimum = live_settings.read(snapshot, MIN_SCORE).value
    needed, hits = matches.min_score, matches.hits
    if hits and hits[0].score < needed:
        return f"Usually {needed:.2f} must match. Less is enough here, because no other intent is near."
    if needed > minimum and (best := max((match.score for match in hits), default=0)):
        margin = live_settings.read(snapshot, MARGIN).value
        reason = f"because the best intent has {best:.2f}: others count up to {margin:.2f} below it"
        return f"{needed:.2f} must match, {reason}."
    return f"{needed:.2f} must match, the minimum for all intents."


def _list_words(words: Iterable[str], text: str | None) -> str:
    return ", ".join(_find_word(word, text) for word in words)


def _find_word(word: str, text: str | None) -> str:
    """The word as the message has it: howmuch is how much."""
    written = re.search(r"[\s'’-]*".join(map(re.escape, word)), text or "", re.IGNORECASE)
    return f"“{written[0] if written else word}”"
