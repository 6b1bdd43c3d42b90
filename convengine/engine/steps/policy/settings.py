"""Settings of policies."""

from convengine.engine.turn.live_settings import boolean, decimal, declare, one_of, text

FAMILY = "PolicyEnforcementStep"

ENABLE_LLM = declare(
    FAMILY,
    "ENABLE_LLM",
    boolean(),
    False,
    "Let a model check the policies of type LLM, after all others.",
    mark="LR",
    label="Let a model check policies",
)
LLM_MIN_CONFIDENCE = declare(
    FAMILY,
    "LLM_MIN_CONFIDENCE",
    decimal(),
    0.7,
    "Minimum confidence of the model for blocking a message.",
    mark="LR",
    label="Minimum confidence of the model",
)
LLM_FAIL_MODE = declare(
    FAMILY,
    "LLM_FAIL_MODE",
    one_of("OPEN", "CLOSED"),
    "OPEN",
    "If no model can check a policy of type LLM: allow the message (OPEN) or block it (CLOSED).",
    mark="LR",
    label="If no model can check",
)
DEFAULT_RESPONSE = declare(
    FAMILY,
    "DEFAULT_RESPONSE",
    text(),
    "I cannot help with that. Please ask me something else.",
    "The answer if a policy has no valid text.",
    label="Default answer",
)
BLOCK_IS_TERMINAL = declare(
    "POLICY",
    "BLOCK_IS_TERMINAL",
    boolean(),
    False,
    "A blocked conversation takes no further messages until it is reset.",
    mark="LR",
    label="Blocked until reset",
)
