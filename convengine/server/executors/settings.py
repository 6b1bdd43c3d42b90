"""Settings of tools: HTTP calls and database queries."""

from convengine.engine.turn.live_settings import boolean, decimal, declare, integer, json_value, prompt, text, text_list

HTTP_FAMILY = "McpHttpApi"
DB_FAMILY = "McpDbExecutor"
DOCUMENTS_FAMILY = "DocumentRetrieval"
_TOOL = "tool code"

CONNECT_TIMEOUT_MS = declare(
    HTTP_FAMILY,
    "CONNECT_TIMEOUT_MS",
    integer(100),
    2000,
    "Timeout for connecting (milliseconds).",
    qualifier=_TOOL,
    label="Connection timeout (ms)",
)
READ_TIMEOUT_MS = declare(
    HTTP_FAMILY,
    "READ_TIMEOUT_MS",
    integer(100),
    5000,
    "Timeout for the answer (milliseconds).",
    qualifier=_TOOL,
    label="Answer timeout (ms)",
)
MAX_ATTEMPTS = declare(
    HTTP_FAMILY,
    "MAX_ATTEMPTS",
    integer(1, 10),
    2,
    (
        "Maximum number of attempts, including the first one. Only for methods that are safe to repeat, unless the "
        "tool allows others."
    ),
    qualifier=_TOOL,
    label="Maximum attempts",
)
INITIAL_BACKOFF_MS = declare(
    HTTP_FAMILY,
    "INITIAL_BACKOFF_MS",
    integer(),
    200,
    "The wait before the second try.",
    qualifier=_TOOL,
    label="Wait before the second attempt (ms)",
)
MAX_BACKOFF_MS = declare(
    HTTP_FAMILY, "MAX_BACKOFF_MS", integer(), 2000, "The longest wait.", qualifier=_TOOL, label="Longest wait (ms)"
)
BACKOFF_MULTIPLIER = declare(
    HTTP_FAMILY,
    "BACKOFF_MULTIPLIER",
    decimal(1, 100),
    2.0,
    "The factor by which the wait grows after each attempt.",
    qualifier=_TOOL,
    label="Growth of the wait",
)
RETRY_STATUS_CODES = declare(
    HTTP_FAMILY,
    "RETRY_STATUS_CODES",
    text_list(),
    ("429", "502", "503", "504"),
    "Status codes after which a call is repeated.",
    qualifier=_TOOL,
    label="Status codes to repeat",
)
RETRY_ON_IO_EXCEPTION = declare(
    HTTP_FAMILY,
    "RETRY_ON_IO_EXCEPTION",
    boolean(),
    True,
    "Repeat the call if the connection fails.",
    qualifier=_TOOL,
    label="Repeat after a connection error",
)
CIRCUIT_BREAKER_ENABLED = declare(
    HTTP_FAMILY,
    "CIRCUIT_BREAKER_ENABLED",
    boolean(),
    True,
    "Stop calling a tool for some time after repeated failures (circuit breaker).",
    qualifier=_TOOL,
    label="Circuit breaker",
)
CIRCUIT_FAILURE_THRESHOLD = declare(
    HTTP_FAMILY,
    "CIRCUIT_FAILURE_THRESHOLD",
    integer(1),
    5,
    "After this many failed calls in a row.",
    qualifier=_TOOL,
    label="Failures before the circuit breaker",
)
CIRCUIT_OPEN_MS = declare(
    HTTP_FAMILY,
    "CIRCUIT_OPEN_MS",
    integer(1000),
    30_000,
    "For this many milliseconds.",
    qualifier=_TOOL,
    label="Pause of the circuit breaker (ms)",
)

DOCUMENT_COLLECTIONS = declare(
    DOCUMENTS_FAMILY,
    "COLLECTIONS",
    text_list(),
    (),
    "The collections for document searches, such as manuals, tariffs. If not set, all collections of the workspace.",
    mark="LR",
    qualifier=_TOOL,
    label="Collections",
)
DB_CONNECTION = declare(
    DB_FAMILY,
    "CONNECTION",
    text(),
    "",
    "The database for database tools, by the name that the deployment gives it, such as warehouse. If empty, the only "
    "configured one.",
    mark="LR",
    qualifier=_TOOL,
    label="Database",
)
STATEMENT_TIMEOUT_MS = declare(
    DB_FAMILY,
    "STATEMENT_TIMEOUT_MS",
    integer(1),
    5000,
    "Timeout for one statement of a database tool (milliseconds).",
    mark="LR",
    label="Timeout of a statement (ms)",
)
SQL_AUTO_REPAIR_ENABLED = declare(
    DB_FAMILY,
    "SQL_AUTO_REPAIR_ENABLED",
    boolean(),
    False,
    "Where SQL repair is installed: let the model repair failing SQL, check it again and run it.",
    mark="LR",
    label="Repair failing SQL",
)
SQL_AUTO_REPAIR_MAX_RETRIES = declare(
    DB_FAMILY,
    "SQL_AUTO_REPAIR_MAX_RETRIES",
    integer(0, 5),
    3,
    "Where SQL repair is installed: how often it is tried.",
    mark="LR",
    label="Maximum repairs of SQL",
)
DB_SQL_PREFLIGHT_SYSTEM_PROMPT = declare(
    DB_FAMILY,
    "DB_SQL_PREFLIGHT_SYSTEM_PROMPT",
    prompt(),
    "You repair one read-only SQL statement that failed. Keep its meaning and its parameters, change as little as "
    'possible, and reply with JSON only: {"sql": text}.',
    "Where SQL repair is installed: instruction to the model.",
    mark="LR",
    label="System prompt of SQL repair",
)
DB_SQL_PREFLIGHT_USER_PROMPT = declare(
    DB_FAMILY,
    "DB_SQL_PREFLIGHT_USER_PROMPT",
    prompt(),
    "Statement:\n{{ sql_before }}\nParameters: {{ params_json }}\nContext: {{ context_json }}\n"
    "Error: {{ error_message }}",
    "Where SQL repair is installed: what the model is shown.",
    mark="LR",
    label="User prompt of SQL repair",
)
DB_SQL_PREFLIGHT_SCHEMA_JSON = declare(
    DB_FAMILY,
    "DB_SQL_PREFLIGHT_SCHEMA_JSON",
    json_value(),
    {
        "type": "object",
        "properties": {"sql": {"type": "string"}},
        "required": ["sql"],
        "additionalProperties": False,
    },
    "Where SQL repair is installed: the JSON Schema of the model's answer.",
    mark="LR",
    label="Schema of the repaired SQL",
)
PREFLIGHT_ENABLED = declare(
    DB_FAMILY,
    "PREFLIGHT_ENABLED",
    boolean(),
    True,
    "Where the preflight is installed: check tables and columns against the tool database.",
    mark="LR",
    label="Check tables and columns before a call",
)
PREFLIGHT_STRICT_SCHEMA = declare(
    DB_FAMILY,
    "PREFLIGHT_STRICT_SCHEMA",
    boolean(),
    True,
    "Where the preflight is installed: fail on unknown tables and columns.",
    mark="LR",
    label="Fail on unknown tables and columns",
)
PREFLIGHT_COERCE_NUMERIC = declare(
    DB_FAMILY,
    "PREFLIGHT_COERCE_NUMERIC",
    boolean(),
    True,
    "Where the preflight is installed: turn numeric texts into numbers.",
    mark="LR",
    label="Convert numeric texts",
)
PREFLIGHT_VALUE_MAPPINGS = declare(
    DB_FAMILY,
    "PREFLIGHT_VALUE_MAPPINGS",
    json_value(),
    {},
    'Where the preflight is installed: values to replace, by column or table.column, such as {"status": {"open": '
    '"O"}}.',
    label="Replaced values",
)
