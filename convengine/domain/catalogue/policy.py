"""Settings of what is never processed (settings 2.8, pipeline-1 7)."""

from convengine.domain.settings import boolean, decimal, declare, one_of, text

FAMILY = "PolicyEnforcementStep"

ENABLE_LLM = declare(
    FAMILY,
    "ENABLE_LLM",
    boolean(),
    False,
    "Let a model judge the policy rows of type LLM, after all others.",
    mark="LR",
)
LLM_MIN_CONFIDENCE = declare(
    FAMILY,
    "LLM_MIN_CONFIDENCE",
    decimal(),
    0.7,
    "A model's judgement blocks from this confidence on.",
    mark="LR",
)
LLM_FAIL_MODE = declare(
    FAMILY,
    "LLM_FAIL_MODE",
    one_of("OPEN", "CLOSED"),
    "OPEN",
    "When no model can judge a row of type LLM: let the message pass (OPEN) or block it (CLOSED).",
    mark="LR",
)
DEFAULT_RESPONSE = declare(
    FAMILY,
    "DEFAULT_RESPONSE",
    text(),
    "I cannot help with that. Please ask me something else.",
    "The answer when a policy row has no usable text of its own.",
)
BLOCK_IS_TERMINAL = declare(
    "POLICY",
    "BLOCK_IS_TERMINAL",
    boolean(),
    False,
    "A blocked conversation takes no further messages until it is reset.",
    mark="LR",
)
