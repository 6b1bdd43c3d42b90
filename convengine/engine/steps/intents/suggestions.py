"""The intents that messages may mean: the likeliest by their phrases, and those with a pattern that fits."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from convengine.engine.rules.row_names import name_row, quote_name
from convengine.engine.steps.intents.classifiers import list_matching_patterns
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.labels import format_confidence
from convengine.engine.turn.scope import ANY, UNKNOWN
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.understanding.phrases.explain import LEAST_NEAR
from convengine.engine.understanding.phrases.matching import match_phrases, prepare_messages

#: Why nothing is suggested, and what to do.
NOTHING_SUGGESTED = (
    "No intent is near to this, so none is suggested. "
    "Choose the one that it means, or make a new flow with these messages as its phrases."
)


class SuggestedIntent(NamedTuple):
    """An intent that the messages may mean, and why."""

    intent: str
    title: str
    reason: str


def suggest_intents(snapshot: Snapshot, texts: Sequence[str], most: int) -> list[SuggestedIntent]:
    """At most `most` intents that these messages may mean, the nearest first, then those whose pattern matches."""
    prepare_messages(snapshot, texts)
    titles = map_intent_titles(snapshot)
    best: dict[str, tuple[float, SuggestedIntent]] = {}
    for text in texts:
        matches = match_phrases(snapshot, text)
        for match in (*matches.hits, *matches.near):
            if (
                match.intent in titles
                and match.confidence >= LEAST_NEAR
                and match.confidence > best.get(match.intent, (0.0, None))[0]
            ):
                reason = f"is near to “{match.phrase.text}” (confidence {format_confidence(match.confidence)})"
                best[match.intent] = (match.confidence, SuggestedIntent(match.intent, titles[match.intent], reason))
        for row in list_matching_patterns(snapshot, text):
            intent, reason = code(row.intent_code), f"its pattern {quote_name(name_row(row.table, row))} fits"
            best.setdefault(intent, (0.0, SuggestedIntent(intent, titles.get(intent, intent), reason)))
    ranked = sorted(best.values(), key=lambda entry: (-entry[0], entry[1].intent))
    return [suggestion for _, suggestion in ranked[:most]]


def map_intent_titles(snapshot: Snapshot) -> Mapping[str, str]:
    """The enabled intents that phrases may lead to, with what they are called."""
    enabled = snapshot.enabled_rows(rows.Intent)
    return {
        code(row.intent_code): row.display_name or row.intent_code
        for row in enabled
        if code(row.intent_code) not in (ANY, UNKNOWN)
    }
