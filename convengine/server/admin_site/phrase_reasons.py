"""How sure the classifier is of an intent, in words: by which phrase, and how sure it must be."""

from collections.abc import Mapping, Sequence
from typing import Any

from convengine.engine.text.compare import shorten
from convengine.engine.turn import live_settings
from convengine.engine.turn.labels import format_confidence
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.understanding.phrases.settings import MARGIN, MIN_CONFIDENCE


def describe_match(name: str, match: Mapping[str, Any]) -> str:
    """How sure the classifier is, and the nearest phrase. `match` is as events record it."""
    phrase = shorten(match["phrase"], 60)
    if match["score"] == 1:
        return f"{name}: the message has the telling words of the phrase “{phrase}”."
    return f"{name}: confidence {format_confidence(match['score'])}. The nearest phrase is “{phrase}”."


def describe_needed_score(snapshot: Snapshot, needed: float, scores: Sequence[float]) -> str:
    """How much confidence is needed, and why. `scores`: those of the intents that count."""
    minimum, margin = live_settings.read(snapshot, MIN_CONFIDENCE).value, live_settings.read(snapshot, MARGIN).value
    if scores and needed > minimum:
        points = format_confidence(margin).removesuffix("\N{NO-BREAK SPACE}%")
        best = f"The best intent has a confidence of {format_confidence(max(scores))}"
        return f"{best}. Others count from {format_confidence(needed)} on, which is {points} points below."
    return f"A confidence of {format_confidence(needed)} is needed, the minimum for all intents."
