"""Settings of pending actions: how long they stay open, and the question which one is meant."""

from convengine.engine.turn.live_settings import boolean, declare, integer, prompt, template

LIFECYCLE_FAMILY = "ActionLifecycleStep"
DISAMBIGUATION_FAMILY = "DisambiguationStep"

ACTION_LIFECYCLE_ENABLED = declare(
    LIFECYCLE_FAMILY,
    "ENABLED",
    boolean(),
    True,
    "If off, actions are not recorded as open and never expire.",
    label="Record open actions",
)
TTL_TURNS = declare(
    LIFECYCLE_FAMILY,
    "TTL_TURNS",
    integer(0, 1000),
    3,
    ("An open action expires after this many turns. 0 means no limit."),
    label="Expiry after turns",
)
TTL_MINUTES = declare(
    LIFECYCLE_FAMILY,
    "TTL_MINUTES",
    integer(0, 100_000),
    30,
    "An open action expires after this many minutes. 0 means no limit.",
    label="Expiry after minutes",
)

DISAMBIGUATION_ENABLED = declare(
    DISAMBIGUATION_FAMILY,
    "ENABLED",
    boolean(),
    True,
    "If off and a yes could mean several actions, none runs and the user is not asked.",
    label="Ask which action is meant",
)
MAX_OPTIONS = declare(
    DISAMBIGUATION_FAMILY,
    "MAX_OPTIONS",
    integer(1, 20),
    5,
    "Maximum number of actions in the question.",
    label="Maximum options in the question",
)
QUESTION_TEMPLATE = declare(
    DISAMBIGUATION_FAMILY,
    "QUESTION_TEMPLATE",
    template(),
    "More than one action fits here. Which one do you mean: {{ options }}?",
    "The question when a yes could mean several actions.",
    label="Question",
)
ENABLE_LLM = declare(
    DISAMBIGUATION_FAMILY,
    "ENABLE_LLM",
    boolean(),
    False,
    "Let a model write the question.",
    label="Question written by a model",
)
MAX_ASKS = declare(
    DISAMBIGUATION_FAMILY,
    "MAX_ASKS",
    integer(1, 10),
    2,
    "Maximum number of times that the question is asked.",
    label="Maximum number of questions",
)
LLM_SYSTEM_PROMPT = declare(
    DISAMBIGUATION_FAMILY,
    "LLM_SYSTEM_PROMPT",
    prompt(),
    "You write one short, friendly question that asks which of several actions the user means. Name every option by "
    "its key exactly as given. Add nothing else.",
    "Instruction to the model for wording the question.",
    label="System prompt",
)
LLM_USER_PROMPT = declare(
    DISAMBIGUATION_FAMILY,
    "LLM_USER_PROMPT",
    prompt(),
    "Topic: {{ intent }}, {{ state }}\nThe {{ candidate_count }} options: {{ options }}\nTheir keys: {{ action_keys }}",
    "What the model is shown for wording the question.",
    label="User prompt",
)


REQUIRE_RESOLVED_INTENT_AND_STATE = declare(
    "InteractionPolicyStep",
    "REQUIRE_RESOLVED_INTENT_AND_STATE",
    boolean(),
    True,
    "Off: the decisions above apply even while intent or state is UNKNOWN.",
    label="Only with a known intent and state",
)
