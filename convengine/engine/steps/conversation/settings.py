"""Settings of the first and last steps: resets and the stored context."""

from convengine.engine.threads.settings import RESET_FAMILY
from convengine.engine.turn.live_settings import boolean, declare, integer

RESET_ALLOW_PUNCTUATION = declare(
    RESET_FAMILY,
    "RESET_ALLOW_PUNCTUATION",
    boolean(),
    False,
    "Let such a message end with punctuation, as in “reset.”",
    label="Allow punctuation at the end",
)
MAX_CONTEXT_BYTES = declare(
    "PersistConversationStep",
    "MAX_CONTEXT_BYTES",
    integer(1024),
    262_144,
    "Maximum size of the stored context. Above it, fetched data and then tool observations are dropped.",
    mark="LR",
    label="Maximum size of the context (bytes)",
)
