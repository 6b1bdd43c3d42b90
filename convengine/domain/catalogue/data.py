"""Settings of the data that a turn works with: fetched, collected, acted on, kept (settings 2.9)."""

from convengine.domain.settings import boolean, declare, integer, one_of, text_list

CONTAINER_FAMILY = "AddContainerDataStep"
SCHEMA_FAMILY = "SchemaExtractionStep"
#: A container row's own value is found under this qualifier.
_ADDRESS = "page-section-container"

CONTAINER_ENABLED = declare(CONTAINER_FAMILY, "ENABLED", boolean(), True, "Fetch the data that container rows name.")
CONTAINER_TIMEOUT_MS = declare(
    CONTAINER_FAMILY,
    "TIMEOUT_MS",
    integer(100, 60_000),
    3000,
    "How long one fetch may take, in milliseconds.",
    qualifier=_ADDRESS,
)
CONTAINER_MAX_BYTES = declare(
    CONTAINER_FAMILY, "MAX_BYTES", integer(), 65_536, "The greatest size of one fetched result.", qualifier=_ADDRESS
)
CONTAINER_REDACT_PARAMS = declare(
    CONTAINER_FAMILY,
    "REDACT_PARAMS",
    text_list(),
    (),
    "Input params that are masked in the audit of a fetch.",
    qualifier=_ADDRESS,
)

EXTRACTOR = declare(
    SCHEMA_FAMILY,
    "EXTRACTOR",
    one_of("LLM", "DETERMINISTIC", "DETERMINISTIC_THEN_LLM"),
    None,
    "Who reads the fields out of a message: the model, the engine's own reader, or the model only while something "
    "required is missing. Not set: the model where there is one, else the engine's own reader.",
)
ON_LLM_ERROR = declare(
    SCHEMA_FAMILY,
    "ON_LLM_ERROR",
    one_of("FAIL", "CONTINUE"),
    "FAIL",
    "When the model cannot read the fields: fail the turn, or go on with what is known.",
)
CLEAR_MCP_ON_FRESH_VALUES = declare(
    SCHEMA_FAMILY,
    "CLEAR_MCP_ON_FRESH_VALUES",
    boolean(),
    True,
    "New field values drop the results of earlier tool calls, which no longer fit.",
)

ACTION_TIMEOUT_MS = declare(
    "PendingActionStep",
    "TIMEOUT_MS",
    integer(100, 300_000),
    10_000,
    "How long the task of a confirmed action may take, in milliseconds.",
    qualifier="action key",
)

MAX_CONTEXT_BYTES = declare(
    "PersistConversationStep",
    "MAX_CONTEXT_BYTES",
    integer(1024),
    262_144,
    "The greatest size of a stored context; above it fetched data and then tool observations are dropped.",
    mark="LR",
)
