"""Settings of phrases."""

from convengine.engine.turn.live_settings import decimal, declare, json_value

PHRASES_FAMILY = "Phrases"

SYNONYMS = declare(
    PHRASES_FAMILY,
    "SYNONYMS",
    json_value(list),
    [],
    'Words that mean the same in your trade, as a JSON list of lists: [["flat", "apartment"], ["TV", "TV set"]].',
)
MIN_SCORE = declare(
    PHRASES_FAMILY,
    "MIN_SCORE",
    decimal(),
    0.4,
    "A message means an intent only if its best phrase has at least this score, from 0 to 1.",
)
MARGIN = declare(
    PHRASES_FAMILY,
    "MARGIN",
    decimal(),
    0.05,
    "If the scores of two intents differ by at most this value, the user is asked which one is meant.",
)
