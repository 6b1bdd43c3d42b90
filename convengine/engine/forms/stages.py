"""Stages of reading messages into forms, and of the life of a form."""

from convengine.engine.turn.stage import Family, SentenceTemplate, Tone, declare_stage

#: The steps that may be the first of a turn to read the message.
_READING_STEPS = (
    "LoadOrCreateConversationStep DialogueActStep InteractionPolicyStep CorrectionStep IntentResolutionStep "
    "SchemaExtractionStep ResponseResolutionStep"
)
SCHEMA_EXTRACTION_DETERMINISTIC = declare_stage(
    "SCHEMA_EXTRACTION_DETERMINISTIC",
    Family.DATA,
    "Fields that were read without a model: where in the text each value stood, and which values were refused.",
    steps="SchemaExtractionStep",
    keys="extracted rejected",
    sentences=(
        SentenceTemplate("The message gave {extracted:data}[; not taken: {rejected:data}].", unless=("FIELDS_READ",)),
        SentenceTemplate("Not taken: {rejected:data}.", tone=Tone.WARNING, unless=("FIELDS_READ",)),
    ),
)
MESSAGE_UNDERSTOOD = declare_stage(
    "MESSAGE_UNDERSTOOD",
    Family.DATA,
    (
        "How the message was understood: its moves, such as a yes or a question, the parts that may be values, and the "
        "words that say what a clause does. Numbers are positions in the message, which has `size` characters. Moves "
        "that were learned from sentences have a `probability`, and the one that was `needed`; those in "
        "`doubtfulMoves` were not sure enough."
    ),
    steps=_READING_STEPS,
    keys="moves doubtfulMoves spans cues size",
    common=True,
)
FINDER_ERROR = declare_stage(
    "FINDER_ERROR",
    Family.DATA,
    "A finder of the deployment failed or took too long, so no values of its kind were found in the message.",
    steps=_READING_STEPS,
    keys="kind errorType errorMessage",
    sentences=(SentenceTemplate("The finder of {kind} failed: {errorType}[, {errorMessage}].", tone=Tone.ERROR),),
)
FIELDS_READ = declare_stage(
    "FIELDS_READ",
    Family.DATA,
    (
        "Which fields the message gave, which of its texts were refused and why, and which field had been asked for. "
        "`positions`: the part of the message that is a value or the name of a field, with the reason. `said_again`: "
        "the fields whose value it only says once more."
    ),
    steps="CorrectionStep SchemaExtractionStep",
    keys="read refused asked offered by unexplained schemaId positions said_again",
    sentences=(
        SentenceTemplate(
            "The user accepted {accepted}, which the bot had offered[; the message also gave {given}]"
            "[; not taken: {refused:refused}][; the bot asks whether {offered:data} is meant]."
        ),
        SentenceTemplate(
            "The bot had asked for {asked:field}, and the message gave {given}[; not taken: {refused:refused}]"
            "[; the bot asks whether {offered:data} is meant]."
        ),
        SentenceTemplate(
            "The bot had asked for {asked:field}; not taken: {refused:refused}"
            "[; the bot asks whether {offered:data} is meant]."
        ),
        SentenceTemplate("The bot had asked for {asked:field}, and now asks whether {offered:data} is meant."),
        SentenceTemplate("The message said {said_again:fields} once more."),
        SentenceTemplate(
            "The bot had asked for {asked:field}, and the message gave no value.", {"read": [], "refused": []}
        ),
        SentenceTemplate(
            "The message gave {given}[; not taken: {refused:refused}][; the bot asks whether {offered:data} is meant]."
        ),
        SentenceTemplate("Not taken: {refused:refused}[; the bot asks whether {offered:data} is meant]."),
        SentenceTemplate("The bot asks whether {offered:data} is meant."),
    ),
)
FIELD_OPTIONS = declare_stage(
    "FIELD_OPTIONS",
    Family.DATA,
    (
        "The options that data gave to a choice of the form: how many entries stood at the path of `x-options-from`, "
        "and which options the field has now. `problem` says why the data gave none."
    ),
    steps="SchemaExtractionStep ResponseResolutionStep",
    keys="schemaId field path problem found count options",
    sentences=(
        SentenceTemplate(
            "The data at {path} are the options of {field:field}: {count} of {found} entries.", {"problem": None}
        ),
        SentenceTemplate(
            "There is nothing at {path}, so {field:field} has {count} options.",
            {"problem": "NOTHING_FOUND"},
            Tone.WARNING,
        ),
        SentenceTemplate(
            "{field:field} has no options, because {path} has {found} entries; 200 at most are allowed.",
            {"problem": "TOO_MANY_OPTIONS"},
            Tone.WARNING,
        ),
        SentenceTemplate(
            "{field:field} has no options, because none of the {found} entries at {path} has a value.",
            {"problem": "NO_OPTIONS"},
            Tone.WARNING,
        ),
    ),
)
FORM_CLEARED = declare_stage(
    "FORM_CLEARED",
    Family.DATA,
    "The fields of a form left the context, because it was done, cancelled or begins again.",
    steps="SchemaExtractionStep IntentResolutionStep ResponseResolutionStep",
    keys="schemaId cause fields",
    sentences=(
        SentenceTemplate("Cleared {cleared} of {schemaId:row ce_output_schema}, because {cause:phrase cleared}."),
    ),
)
FORM_LEAVE_ASKED = declare_stage(
    "FORM_LEAVE_ASKED",
    Family.DATA,
    "The user wants to leave a form that has values, so the answer asks whether to stop.",
    steps="SchemaExtractionStep IntentResolutionStep",
    keys="schemaId intent",
    sentences=(SentenceTemplate("The bot asks whether to stop the form[ and go on with {intent}]."),),
)
FORM_LEFT = declare_stage(
    "FORM_LEFT",
    Family.DATA,
    (
        "The user left a form before it was done. `intent` is the intent that follows, if any; `answers` names the "
        "question of the bot that the message answered."
    ),
    steps="SchemaExtractionStep IntentResolutionStep",
    keys="schemaId intent answers",
    sentences=(SentenceTemplate("The user left the form[ for {intent}][, in answer to {answers:phrase asked}]."),),
)
FORM_INTERRUPTED = declare_stage(
    "FORM_INTERRUPTED",
    Family.DATA,
    "Another form interrupts the form, to which the bot goes back. `fields` are those whose values wait.",
    steps="IntentResolutionStep",
    keys="schemaId intent fields",
    sentences=(SentenceTemplate("The form was interrupted for {intent}; the bot will go back to it."),),
)
FORM_RESUMED = declare_stage(
    "FORM_RESUMED",
    Family.DATA,
    "An interrupted form goes on, because the bot goes back to its `state`, or because the user asked for it again.",
    steps="IntentResolutionStep ResponseResolutionStep",
    keys="schemaId intent fields state",
    sentences=(
        SentenceTemplate("The bot went back to {intent}, which had been interrupted, in the state {state}."),
        SentenceTemplate("The user went back to {intent}, which had been interrupted."),
    ),
)
FORM_REFUSED = declare_stage(
    "FORM_REFUSED",
    Family.DATA,
    "The user said no to the confirmation of a form. `reaction` says what follows.",
    steps="SchemaExtractionStep",
    keys="schemaId reaction",
    sentences=(
        SentenceTemplate(
            "The user said no to the confirmation of {schemaId:row ce_output_schema}[, so {reaction:phrase on_no}]."
        ),
    ),
)
