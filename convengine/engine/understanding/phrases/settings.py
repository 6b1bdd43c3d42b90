"""Settings of phrases."""

from convengine.engine.turn.live_settings import decimal, declare, json_value, text

PHRASES_FAMILY = "Phrases"
#: From this confidence on an intent is what a message says, though it could also be the text that was asked for.
VERY_SURE = 0.8

SYNONYMS = declare(
    PHRASES_FAMILY,
    "SYNONYMS",
    json_value(list),
    [],
    'Words that mean the same in your trade, as a JSON list of lists: [["flat", "apartment"], ["TV", "TV set"]].',
)
MIN_CONFIDENCE = declare(
    PHRASES_FAMILY,
    "MIN_CONFIDENCE",
    decimal(),
    0.5,
    "A message means an intent only if the classifier has at least this confidence, from 0 to 1.",
    label="Minimum confidence",
)
MARGIN = declare(
    PHRASES_FAMILY,
    "MARGIN",
    decimal(),
    0.05,
    "If the confidences of two intents differ by at most this value, the user is asked which one is meant.",
)
MIN_NEAR = declare(
    PHRASES_FAMILY,
    "MIN_NEAR",
    decimal(),
    0.1,
    "If no intent is sure, the user is asked about intents with at least this confidence: “Do you mean …?” 1 asks "
    "about none.",
    label="Minimum confidence for a question",
)
EMBEDDING_MODEL = declare(
    PHRASES_FAMILY,
    "EMBEDDING_MODEL",
    text(),
    "",
    "The model that says what phrases and messages mean as vectors, one of those that the deployment allows. If empty, "
    "the encoder of the product does.",
    mark="LR",
)
