"""Settings of fetching reference data."""

from convengine.engine.turn.live_settings import boolean, declare, integer, text_list

CONTAINER_FAMILY = "AddContainerDataStep"


#: The qualifier of a container row's own value.
_ADDRESS = "page-section-container"

CONTAINER_ENABLED = declare(
    CONTAINER_FAMILY, "ENABLED", boolean(), True, "Fetch data from data sources.", label="Fetch data"
)
CONTAINER_TIMEOUT_MS = declare(
    CONTAINER_FAMILY,
    "TIMEOUT_MS",
    integer(100, 60_000),
    3000,
    "Timeout for one fetch (milliseconds).",
    qualifier=_ADDRESS,
    label="Timeout of a fetch (ms)",
)
CONTAINER_MAX_BYTES = declare(
    CONTAINER_FAMILY,
    "MAX_BYTES",
    integer(),
    65_536,
    "Maximum size of one fetched result.",
    qualifier=_ADDRESS,
    label="Maximum size of a result (bytes)",
)
CONTAINER_REDACT_PARAMS = declare(
    CONTAINER_FAMILY,
    "REDACT_PARAMS",
    text_list(),
    (),
    "Parameters that are masked in the audit of a fetch, such as iban, pin.",
    qualifier=_ADDRESS,
    label="Masked parameters",
)
