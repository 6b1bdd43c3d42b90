"""Settings of the last steps before the answer, and of the answer itself (settings 2.9, pipeline-2 8, 9; R11, R19)."""

from convengine.domain.settings import boolean, declare, integer, one_of, text

FAMILY = "ResponseResolutionStep"
GRAPH_FAMILY = "StateGraphStep"

STATE_GRAPH_ENABLED = declare(
    GRAPH_FAMILY, "ENABLED", boolean(), True, "Check the moves between states against the state graph."
)
ON_VIOLATION = declare(
    GRAPH_FAMILY,
    "ON_VIOLATION",
    one_of("AUDIT_ONLY", "SOFT_BLOCK", "REVERT"),
    "AUDIT_ONLY",
    "A move that the graph does not allow is noted (AUDIT_ONLY), also flagged for answers and rules (SOFT_BLOCK), or "
    "taken back to intent and state at turn start (REVERT).",
)

HISTORY_TURNS = declare(
    FAMILY, "HISTORY_TURNS", integer(0, 200), 10, "How many earlier turns the prompt of an answer is given."
)
ON_MISSING = declare(
    FAMILY,
    "ON_MISSING",
    one_of("ERROR", "FALLBACK"),
    "ERROR",
    "No response row fits: fail the turn with RESPONSE_MAPPING_NOT_FOUND, or answer with FALLBACK_TEXT.",
)
FALLBACK_TEXT = declare(
    FAMILY,
    "FALLBACK_TEXT",
    text(),
    "I am sorry, I have no answer to that right now.",
    "The answer when no response row fits and ON_MISSING is FALLBACK, or when a text could not be rendered.",
)
ALLOW_LLM_STATE_OVERRIDE = declare(
    FAMILY,
    "ALLOW_LLM_STATE_OVERRIDE",
    boolean(),
    False,
    "Let “intent” and “state” in a JSON answer written by the model change the conversation's.",
    mark="LR",
)
