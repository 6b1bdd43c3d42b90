"""Settings of forms that ask."""

from convengine.engine.turn.live_settings import (
    UnreadableSetting,
    ValueKind,
    boolean,
    declare,
    integer,
    one_of,
    template,
)

FAMILY = "Form"


def _read_country(text: str) -> str:
    country = text.strip().upper()
    if not (len(country) == 2 and country.isascii() and country.isalpha()):
        raise UnreadableSetting("must be the two letters of a country, such as GB.")
    return country


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
ECHO = declare(
    FAMILY,
    "ECHO",
    one_of("DOUBTFUL", "ALL", "NONE"),
    "DOUBTFUL",
    (
        "Which values the next question repeats first: those that the message did not say plainly (a typing error that "
        "was mended, a year that was added, a correction), all, or none."
    ),
    label="Values that are repeated",
)
COUNTRY = declare(
    FAMILY,
    "COUNTRY",
    ValueKind("country", _read_country, blank_is_absent=True),
    "",
    "The country of your customers, such as DE or GB: for phone numbers without a country code and for postcodes, in "
    "fields that name no country. ZZ: different countries. If blank, that of the language and region.",
    label="Country of your customers",
)
ON_LEAVE = declare(
    FAMILY,
    "ON_LEAVE",
    one_of("ASK", "LEAVE", "STAY"),
    "LEAVE",
    (
        "What happens when the user wants to leave a form that has values: ask once, leave at once, or stay in the "
        "form. It is for forms that have `x-on-leave`, or CANCEL in `x-clear`; `x-on-leave` comes first."
    ),
    label="When the user leaves a form",
)
HAND_OVER_TEXT = declare(
    FAMILY,
    "HAND_OVER_TEXT",
    template(),
    "",
    "The answer when a form is given up and no answer of the state HAND_OVER applies. If blank, a default text.",
    label="Answer when a form is given up",
)
RETURN_TEXT = declare(
    FAMILY,
    "RETURN_TEXT",
    template(),
    "",
    (
        "The text after the answer to a question in between. {{ question }} is the open question. If blank, a default "
        "text in the language of the form."
    ),
    label="Text that returns to the open question",
)
RESUME_TEXT = declare(
    FAMILY,
    "RESUME_TEXT",
    template(),
    "",
    (
        "The text that goes back to a form which another one interrupted. {{ title }} is the name of its intent, and "
        "{{ question }} its open question. If blank, a default text in the language of the form."
    ),
    label="Text that goes back to a form",
)


SCHEMA_FAMILY = "SchemaExtractionStep"

EXTRACTOR = declare(
    SCHEMA_FAMILY,
    "EXTRACTOR",
    one_of("LLM", "DETERMINISTIC", "DETERMINISTIC_THEN_LLM"),
    None,
    (
        "How fields are extracted from a message: by the model, by the built-in reader, or by the model only if a "
        "required field is missing. If not set, the model is used if there is one, else the built-in reader."
    ),
    label="Extraction by model or reader",
)
BARE_ANSWER = declare(
    SCHEMA_FAMILY,
    "BARE_ANSWER",
    one_of("ASKED", "ONLY_MISSING"),
    "ASKED",
    (
        "Which field an answer without the field's name is for: the field that the last answer asked for, or the only "
        "missing one."
    ),
    label="What a bare answer is for",
)
ON_LLM_ERROR = declare(
    SCHEMA_FAMILY,
    "ON_LLM_ERROR",
    one_of("FAIL", "CONTINUE"),
    "FAIL",
    "If the model cannot extract the fields: fail the turn, or continue with the known fields.",
    label="If the model fails",
)
CLEAR_MCP_ON_FRESH_VALUES = declare(
    SCHEMA_FAMILY,
    "CLEAR_MCP_ON_FRESH_VALUES",
    boolean(),
    True,
    "New field values remove the results of earlier tool calls.",
    label="New values remove tool results",
)
