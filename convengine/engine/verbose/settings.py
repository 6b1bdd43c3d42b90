"""Settings of progress texts."""

from convengine.engine.turn.live_settings import boolean, declare, template

FAMILY = "Verbose"

ENABLED = declare(
    FAMILY,
    "ENABLED",
    boolean(),
    True,
    "Send the progress and error lines of the verbose rows.",
    label="Send progress texts",
)
GENERIC_ERROR = declare(
    FAMILY,
    "GENERIC_ERROR",
    template(),
    "Something went wrong while processing {{ stepLabel }}.",
    "The line for a failed step that no verbose row covers.",
    label="Error text without a progress text",
)
