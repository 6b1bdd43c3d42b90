"""Settings of the language model: model, temperature, time, budgets."""

from dataclasses import replace

from convengine.engine.turn.live_settings import boolean, decimal, declare, integer, text, text_list

FAMILY = "LLM"
_PURPOSE = "purpose"

#: The purposes of model calls; qualifiers of the settings below.
PURPOSES = (
    "DIALOGUE_ACT",
    "INTENT_AGENT",
    "COLLISION",
    "SCHEMA_EXTRACTION",
    "CORRECTION",
    "DISAMBIGUATION",
    "MCP_PLAN",
    "RESPONSE_TEXT",
    "RESPONSE_JSON",
    "DOCUMENTS",
    "POLICY",
    "MEMORY",
    "SUMMARY",
    "UNITS",
    "DRIFT",
    "SQL_REPAIR",
)
#: Extraction, classification and planning: the same prompt should give the same answer.
_EXACT = ("DIALOGUE_ACT", "INTENT_AGENT", "SCHEMA_EXTRACTION", "MCP_PLAN", "POLICY", "UNITS", "DRIFT", "SQL_REPAIR")

MODEL = declare(
    FAMILY,
    "MODEL",
    text(),
    "",
    "The model to use, one of those that the deployment allows. If empty, the default of the deployment.",
    mark="LR",
    qualifier=_PURPOSE,
)
TEMPERATURE = declare(
    FAMILY,
    "TEMPERATURE",
    decimal(0, 2),
    0.3,
    (
        "The temperature of the model. The temperature of a prompt template has priority. Extraction, classification "
        "and planning use 0 unless set for their purpose."
    ),
    qualifier=_PURPOSE,
    qualified_defaults=dict.fromkeys(_EXACT, 0.0),
)
TIMEOUT_SECONDS = declare(
    FAMILY,
    "TIMEOUT_SECONDS",
    integer(1, 300),
    20,
    "Timeout for one call (seconds).",
    mark="LR",
    qualifier=_PURPOSE,
    label="Timeout of a call (seconds)",
)
MAX_ATTEMPTS = declare(
    FAMILY,
    "MAX_ATTEMPTS",
    integer(1, 5),
    2,
    "Maximum number of attempts if the service does not answer, is busy or fails.",
    mark="LR",
    qualifier=_PURPOSE,
    label="Maximum attempts",
)
MAX_CALLS_PER_TURN = declare(
    FAMILY,
    "MAX_CALLS_PER_TURN",
    integer(1),
    12,
    "Maximum number of calls in one turn.",
    mark="LR",
    label="Maximum calls per turn",
)
MAX_MS_PER_TURN = declare(
    FAMILY,
    "MAX_MS_PER_TURN",
    integer(1),
    30_000,
    "Timeout for all calls of one turn together (milliseconds).",
    mark="LR",
    label="Maximum time per turn (ms)",
)
MAX_TOKENS_PER_TURN = declare(
    FAMILY,
    "MAX_TOKENS_PER_TURN",
    integer(),
    0,
    "Maximum number of tokens in one turn. 0 means no limit.",
    mark="LR",
    label="Maximum tokens per turn",
)
MAX_COST_PER_CONVERSATION = declare(
    FAMILY,
    "MAX_COST_PER_CONVERSATION",
    decimal(0, 1_000_000),
    0.0,
    "Maximum cost of one conversation at the prices of the deployment. 0 means no limit.",
    mark="LR",
    label="Maximum cost per conversation",
)
LOG_PROMPTS = declare(
    FAMILY,
    "LOG_PROMPTS",
    boolean(),
    True,
    "Store the texts of prompts and answers in the call log. If off, only lengths and hashes are stored.",
    mark="LR",
    label="Store prompts and answers",
)
REDACT_PATTERNS = declare(
    FAMILY,
    "REDACT_PATTERNS",
    replace(text_list(lines=True), name="patterns"),
    (),
    "What the call log must not keep: regular expressions, one a line, such as \\b\\d{16}\\b; what fits in a prompt or "
    "an answer is replaced by ***. AUDIT/REDACT_KEYS apply there as well.",
    mark="LR",
    label="Masked texts",
)
LOG_RETENTION_DAYS = declare(
    FAMILY,
    "LOG_RETENTION_DAYS",
    integer(0, 36_500),
    30,
    "Days to keep the call log. 0 means forever.",
    mark="LR",
    label="Retention of the call log (days)",
)
