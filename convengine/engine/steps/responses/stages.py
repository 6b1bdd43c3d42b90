"""Stages of answers."""

from convengine.engine.turn.stage import Family, SentenceTemplate, Tone, declare_stage
from convengine.engine.turn.stages import PROMPT_FAULT

#: The stage of a wish for a person, which ends a form without a failed answer.
_PERSON_WANTED = "PERSON_WANTED"
RESOLVE_RESPONSE = declare_stage(
    "RESOLVE_RESPONSE",
    Family.RESPONSE,
    "The row that answers.",
    steps="ResponseResolutionStep",
    keys="responseId intent state",
    common=True,
)
NOT_UNDERSTOOD = declare_stage(
    "NOT_UNDERSTOOD",
    Family.RESPONSE,
    "Nobody understood the message: no intent, no field, no rule, no action. `count` is the number in a row.",
    steps="ResponseResolutionStep",
    keys="count asked_field",
    sentences=(
        SentenceTemplate("The user did not answer, but the form needs {declined}.", tone=Tone.WARNING),
        SentenceTemplate("The message was not understood.", {"count": 1}, Tone.WARNING),
        SentenceTemplate("The message was not understood; that makes {count} in a row.", tone=Tone.WARNING),
    ),
)
DOCUMENTS_FOUND = declare_stage(
    "DOCUMENTS_FOUND",
    Family.RESPONSE,
    "Documents answered the message. `sections` are those that were shown, and `runnerUp` the next one.",
    steps="ResponseResolutionStep",
    keys="sections runnerUp",
    sentences=(SentenceTemplate("Showed what documents say to the message."),),
)
DOCUMENTS_LLM_INPUT = declare_stage(
    "DOCUMENTS_LLM_INPUT",
    Family.RESPONSE,
    "The prompt for a short answer from documents.",
    steps="ResponseResolutionStep",
    keys="system_prompt user_prompt",
)
DOCUMENTS_LLM_OUTPUT = declare_stage(
    "DOCUMENTS_LLM_OUTPUT",
    Family.RESPONSE,
    "The short answer that the model wrote.",
    steps="ResponseResolutionStep",
    keys="output",
)
DOCUMENTS_LLM_ERROR = declare_stage(
    "DOCUMENTS_LLM_ERROR",
    Family.RESPONSE,
    "There is no short answer from documents; the sections are shown. `added` lists words that they lack.",
    steps="ResponseResolutionStep",
    keys=f"errorCode message exception added {PROMPT_FAULT}",
    sentences=(
        SentenceTemplate("The model gave no short answer[: {message}]; the sections were shown.", tone=Tone.WARNING),
    ),
)
DIGRESSION_ANSWERED = declare_stage(
    "DIGRESSION_ANSWERED",
    Family.RESPONSE,
    "The message asked something in between: it was answered, and the open question follows. `rowId` is the phrase.",
    steps="ResponseResolutionStep",
    keys="intent rowId",
    sentences=(SentenceTemplate("Answered a question in between: {intent}[, by {rowId:row ce_intent_classifier}]."),),
)
FORM_GIVEN_UP = declare_stage(
    "FORM_GIVEN_UP",
    Family.RESPONSE,
    "The answers for a field were refused or not understood too often, so the form ends.",
    steps="ResponseResolutionStep",
    keys="field misses schemaId",
    sentences=(
        SentenceTemplate("The form ended, so that a person can take over.", given=_PERSON_WANTED),
        SentenceTemplate("Gave up the form after a failed answer for {field:field}.", {"misses": 1}, Tone.WARNING),
        SentenceTemplate("Gave up the form after {misses} failed answers for {field:field}.", tone=Tone.WARNING),
    ),
)
PERSON_WANTED = declare_stage(
    "PERSON_WANTED",
    Family.RESPONSE,
    "The user asked for a person, in words that are no phrase of an intent, and the conversation is handed over.",
    steps="ResponseResolutionStep",
    sentences=(SentenceTemplate("The user asked for a person."),),
)
HAND_OVER_DISABLED = declare_stage(
    "HAND_OVER_DISABLED",
    Family.RESPONSE,
    "The user asked for a person, and each intent that hands over is disabled.",
    steps="ResponseResolutionStep",
    keys="intents",
    sentences=(
        SentenceTemplate(
            "The user asked for a person, but what hands over is disabled: {intents:intents}.", tone=Tone.WARNING
        ),
    ),
)
HAND_OVER_OFFERED = declare_stage(
    "HAND_OVER_OFFERED",
    Family.RESPONSE,
    "Several messages in a row were not understood, so a hand-over is offered.",
    steps="ResponseResolutionStep",
    keys="count",
    sentences=(
        SentenceTemplate("A person is needed, because the message was not understood.", {"count": 1}, Tone.WARNING),
        SentenceTemplate(
            "A person is needed, because {count} messages in a row were not understood.", tone=Tone.WARNING
        ),
    ),
)
RESPONSE_MAPPING_NOT_FOUND = declare_stage(
    "RESPONSE_MAPPING_NOT_FOUND",
    Family.RESPONSE,
    "No row answers this intent and state.",
    steps="ResponseResolutionStep",
    keys="intent state",
    sentences=(SentenceTemplate("No answer fits intent {intent} and state {state}.", tone=Tone.ERROR),),
)
RESOLVE_RESPONSE_SELECTED = declare_stage(
    "RESOLVE_RESPONSE_SELECTED",
    Family.RESPONSE,
    "The template that the model is given for the answer.",
    steps="ResponseResolutionStep",
    keys="templateId intent outputFormat resolver",
    sentences=(SentenceTemplate("Asked a model to write the answer with {templateId:row ce_prompt_template}."),),
)
RESPONSE_EXACT = declare_stage(
    "RESPONSE_EXACT",
    Family.RESPONSE,
    "The answer is the text of the row, filled in.",
    steps="ResponseResolutionStep",
    keys="text",
    common=True,
)
EXACT_RESPONSE_RENDERING = declare_stage(
    "EXACT_RESPONSE_RENDERING",
    Family.RESPONSE,
    "The text of the row could not be filled in as it is; a simpler form was used.",
    steps="ResponseResolutionStep",
    keys="component fallbackUsed errorClass errorMessage templatePreview responseId",
    sentences=(
        SentenceTemplate(
            "Could not fill in the placeholders of the answer[: {errorMessage}]; used the {fallbackUsed:phrase code} "
            "instead.",
            tone=Tone.WARNING,
        ),
    ),
)
RESPONSE_TRANSFORM_FAILED = declare_stage(
    "RESPONSE_TRANSFORM_FAILED",
    Family.RESPONSE,
    "A transformer of the deployment failed; the answer stays as it was.",
    steps="ResponseResolutionStep PersistConversationStep",
    keys="stage transformer errorType errorMessage",
    sentences=(
        SentenceTemplate(
            "The transformer {transformer} failed[: {errorMessage}]; the answer was not changed.", tone=Tone.ERROR
        ),
    ),
)
