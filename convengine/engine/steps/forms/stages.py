"""Stages of forms."""

from convengine.engine.turn.stage import Family, SentenceTemplate, Tone, declare_stage
from convengine.engine.turn.stages import PROMPT_FAULT

SCHEMA_EXTRACTION_START = declare_stage(
    "SCHEMA_EXTRACTION_START",
    Family.DATA,
    "The message is read for fields of this schema.",
    steps="SchemaExtractionStep",
    keys="schemaId",
)
SCHEMA_EXTRACTION_LLM_INPUT = declare_stage(
    "SCHEMA_EXTRACTION_LLM_INPUT",
    Family.DATA,
    "What the model was asked to read the fields.",
    steps="SchemaExtractionStep",
    keys="system_prompt user_prompt schema userInput",
)
SCHEMA_EXTRACTION_LLM_OUTPUT = declare_stage(
    "SCHEMA_EXTRACTION_LLM_OUTPUT",
    Family.DATA,
    "What the model read.",
    steps="SchemaExtractionStep",
    keys="json rejected rejectedReasons",
    sentences=(
        SentenceTemplate(
            "The model read {json:data} in the message[; not taken: {rejected:data}].",
            unless=("SCHEMA_EXTRACTION_LLM_ERROR",),
        ),
        SentenceTemplate("The model read no value in the message.", {"json": {}}),
    ),
)
SCHEMA_EXTRACTION_LLM_ERROR = declare_stage(
    "SCHEMA_EXTRACTION_LLM_ERROR",
    Family.DATA,
    "The model could not extract the fields. A setting decides what happens.",
    steps="SchemaExtractionStep",
    keys=f"errorCode message exception {PROMPT_FAULT}",
    sentences=(
        SentenceTemplate(
            "The model could not extract field values from the message[: {message}][ ({errorCode})].", tone=Tone.WARNING
        ),
    ),
)
SCHEMA_STATUS = declare_stage(
    "SCHEMA_STATUS",
    Family.DATA,
    "Which fields are known and which are missing, before rules look at it.",
    steps="SchemaExtractionStep",
    keys=(
        "schemaComplete hasAnySchemaValue missingRequiredFields missingFieldOptions schemaId intent state"
        " intentLocked intentLockReason context schemaJson skipped"
    ),
    sentences=(
        SentenceTemplate(
            "All required fields of {schemaId:row ce_output_schema} are filled in.", {"schemaComplete": True}
        ),
        SentenceTemplate("Still missing in {schemaId:row ce_output_schema}: {missingRequiredFields:fields}."),
        SentenceTemplate(
            "All required fields of {schemaId:row ce_output_schema} are filled in; an optional one is still open.",
            {"missingRequiredFields": []},
        ),
    ),
)
AUTO_ADVANCE_SKIPPED_NO_SCHEMA = declare_stage(
    "AUTO_ADVANCE_SKIPPED_NO_SCHEMA",
    Family.DATA,
    "No schema applies here, so nothing can be complete.",
    steps="AutoAdvanceStep",
    keys="reason",
    common=True,
)
AUTO_ADVANCE_FACTS = declare_stage(
    "AUTO_ADVANCE_FACTS",
    Family.DATA,
    "Whether the form is complete, as rules see it.",
    steps="AutoAdvanceStep",
    keys="schemaComplete hasAnySchemaValue intent state",
)
