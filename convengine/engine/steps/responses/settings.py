"""Settings of the answer."""

from convengine.engine.turn.live_settings import declare, integer, one_of, text

FAMILY = "ResponseResolutionStep"


HISTORY_TURNS = declare(
    FAMILY,
    "HISTORY_TURNS",
    integer(0, 200),
    10,
    "Number of earlier turns in the prompt of an answer.",
    label="Turns in the prompt",
)
ON_MISSING = declare(
    FAMILY,
    "ON_MISSING",
    one_of("ERROR", "FALLBACK"),
    "ERROR",
    "If no answer applies: fail the turn with RESPONSE_MAPPING_NOT_FOUND, or use FALLBACK_TEXT.",
    label="If no answer applies",
)
FALLBACK_TEXT = declare(
    FAMILY,
    "FALLBACK_TEXT",
    text(),
    "I am sorry, I have no answer to that right now.",
    "The answer if none applies and ON_MISSING is FALLBACK, or if a text cannot be rendered.",
    label="Fallback answer",
)
DOCUMENTS_TEXT = declare(
    FAMILY,
    "DOCUMENTS_TEXT",
    text(),
    "I found this:",
    "What the bot says before it shows what documents say to a message.",
    label="Text before what documents say",
)
MODEL_UNAVAILABLE_TEXT = declare(
    FAMILY,
    "MODEL_UNAVAILABLE_TEXT",
    text(),
    "I cannot answer that right now. Please try again in a moment, or say it in other words.",
    "The answer to a message that nothing else understood, while the model cannot be reached.",
    label="Answer while the model cannot be reached",
)
