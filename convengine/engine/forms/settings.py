"""Settings of forms that ask (R110, R112, R113)."""

from convengine.engine.turn.live_settings import declare, integer, one_of, template

FAMILY = "Form"

ASK = declare(
    FAMILY,
    "ASK",
    one_of("ONE", "ALL"),
    "ONE",
    "Whether a form asks for one field at a time, or for all that are missing. A form may have its own `x-ask-mode`.",
    label="Fields asked for at once",
)
MAX_MISSES = declare(
    FAMILY,
    "MAX_MISSES",
    integer(1, 100),
    3,
    (
        "How many answers in a row may be refused or not understood. Then the form is given up, or outside of forms a "
        "hand-over is offered: the answer of the state HAND_OVER."
    ),
    label="Failed answers before a form is given up",
)
HAND_OVER_TEXT = declare(
    FAMILY,
    "HAND_OVER_TEXT",
    template(),
    "",
    "The answer when a form is given up and no answer of the state HAND_OVER applies. If blank, a default text.",
    label="Answer when a form is given up",
)
