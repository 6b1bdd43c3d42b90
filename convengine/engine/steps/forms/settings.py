"""Settings of forms (settings 2.9, pipeline-2 5)."""

from convengine.engine.turn.live_settings import boolean, declare, one_of

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
