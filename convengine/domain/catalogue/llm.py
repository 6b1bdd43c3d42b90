"""Settings of the language model: which, how warm, how long, how much (settings 2.13; R85)."""

from dataclasses import replace

from convengine.domain.settings import boolean, decimal, declare, integer, text, text_list

FAMILY = "LLM"
_PURPOSE = "purpose"

#: What a model may be asked for (tables 6.4, R72); qualifiers of the settings below.
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
    "POLICY",
    "MEMORY",
    "SUMMARY",
    "UNITS",
    "DRIFT",
    "SQL_REPAIR",
)
#: Extraction, classification and planning: the same question should get the same answer.
_EXACT = ("DIALOGUE_ACT", "INTENT_AGENT", "SCHEMA_EXTRACTION", "MCP_PLAN", "POLICY", "UNITS", "DRIFT", "SQL_REPAIR")

MODEL = declare(
    FAMILY,
    "MODEL",
    text(),
    "",
    "Which model is asked, of those that the deployment allows; blank: the deployment's default.",
    mark="LR",
    qualifier=_PURPOSE,
)
TEMPERATURE = declare(
    FAMILY,
    "TEMPERATURE",
    decimal(0, 2),
    0.3,
    "How freely the model writes; a template's own temperature wins. Extraction, classification and planning use 0 "
    "unless set for their purpose.",
    qualifier=_PURPOSE,
    qualified_defaults=dict.fromkeys(_EXACT, 0.0),
)
TIMEOUT_SECONDS = declare(
    FAMILY,
    "TIMEOUT_SECONDS",
    integer(1, 300),
    20,
    "How long one call may take.",
    mark="LR",
    qualifier=_PURPOSE,
)
MAX_ATTEMPTS = declare(
    FAMILY,
    "MAX_ATTEMPTS",
    integer(1, 5),
    2,
    "How often a call is tried when the service does not answer, is busy or fails on its side.",
    mark="LR",
    qualifier=_PURPOSE,
)
MAX_CALLS_PER_TURN = declare(
    FAMILY, "MAX_CALLS_PER_TURN", integer(1), 12, "How many calls one turn may make.", mark="LR"
)
MAX_MS_PER_TURN = declare(
    FAMILY, "MAX_MS_PER_TURN", integer(1), 30_000, "How long all calls of one turn may take together.", mark="LR"
)
MAX_TOKENS_PER_TURN = declare(
    FAMILY, "MAX_TOKENS_PER_TURN", integer(), 0, "How many tokens one turn may use; 0 = no limit.", mark="LR"
)
MAX_COST_PER_CONVERSATION = declare(
    FAMILY,
    "MAX_COST_PER_CONVERSATION",
    decimal(0, 1_000_000),
    0.0,
    "What one conversation may cost by the deployment's prices; 0 = no limit.",
    mark="LR",
)
LOG_PROMPTS = declare(
    FAMILY,
    "LOG_PROMPTS",
    boolean(),
    True,
    "Keep the texts of prompts and answers in the call log; off: only lengths and hashes.",
    mark="LR",
)
REDACT_PATTERNS = declare(
    FAMILY,
    "REDACT_PATTERNS",
    replace(text_list(lines=True), name="patterns"),
    (),
    "What the call log must not keep: regular expressions, one a line; what fits in a prompt or an answer is replaced "
    "by ***. AUDIT/REDACT_KEYS apply there as well.",
    mark="LR",
)
LOG_RETENTION_DAYS = declare(
    FAMILY, "LOG_RETENTION_DAYS", integer(0, 36_500), 30, "How many days the call log is kept; 0 = for ever.", mark="LR"
)
