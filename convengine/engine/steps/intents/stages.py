"""Stages of intents."""

from convengine.engine.turn.stage import Family, SentenceTemplate, Tone, declare_stage
from convengine.engine.turn.stages import PROMPT_FAULT
from convengine.engine.understanding.phrases.encoders import NO_VECTORS
from convengine.engine.understanding.phrases.interim import BEING_MADE

INTENT_RESOLVE_START = declare_stage(
    "INTENT_RESOLVE_START",
    Family.INTENT,
    "The intent recognition starts.",
    steps="IntentResolutionStep",
    keys="previousIntent intentLocked intentLockReason",
    common=True,
)
INTENT_RESOLVE_FORCED = declare_stage(
    "INTENT_RESOLVE_FORCED",
    Family.INTENT,
    "A caller or a rule requires a new intent recognition.",
    steps="IntentResolutionStep",
    keys="signal reason",
    sentences=(SentenceTemplate("Looked for the intent again, because {signal:phrase signal}."),),
)
INTENT_RESOLVE_SKIPPED_SCHEMA_COLLECTION = declare_stage(
    "INTENT_RESOLVE_SKIPPED_SCHEMA_COLLECTION",
    Family.INTENT,
    "The intent is kept while its form is filled in.",
    steps="IntentResolutionStep",
    keys="intent state intentLocked intentLockReason",
    sentences=(SentenceTemplate("The intent stays {previousIntent}[, because {intentLockReason:phrase kept}]."),),
)
INTENT_RESOLVE_SKIPPED_POLICY = declare_stage(
    "INTENT_RESOLVE_SKIPPED_POLICY",
    Family.INTENT,
    "The intent is kept because the message answers what is waiting.",
    steps="IntentResolutionStep",
    keys="intent state dialogueAct policyDecision skipIntentResolution reason",
    sentences=(SentenceTemplate("The intent stays {previousIntent}[, because {reason:phrase kept}]."),),
)
INTENT_RESOLVE_SKIPPED_STICKY_INTENT = declare_stage(
    "INTENT_RESOLVE_SKIPPED_STICKY_INTENT",
    Family.INTENT,
    "The intent is kept because it is sticky here.",
    steps="IntentResolutionStep",
    keys="intent state stickyIntentEnabled reason",
    sentences=(SentenceTemplate("The intent stays {previousIntent}[, because {reason:phrase kept}]."),),
)
INTENT_RESOLVE_NO_CHANGE = declare_stage(
    "INTENT_RESOLVE_NO_CHANGE",
    Family.INTENT,
    "No other intent was recognised, so the intent is kept.",
    steps="IntentResolutionStep",
    keys="reason",
    sentences=(
        SentenceTemplate(
            "The intent stays {previousIntent}, because {reason:phrase kept}.",
            # Of the other reasons, the sentences about the message say what happened.
            {
                "reason": frozenset(
                    {
                        "ASKED_OF_SECTION",
                        "FORM_CONFIRMED",
                        "FORM_LEAVE_ASKED",
                        "FORM_DONE",
                        "FORM_STAYS",
                        "DIGRESSION",
                        "PERSON_WANTED",
                        "resume_offered",
                    }
                )
            },
        ),
    ),
)
INTENT_RESOLVE_NEEDS_CLARIFICATION = declare_stage(
    "INTENT_RESOLVE_NEEDS_CLARIFICATION",
    Family.INTENT,
    "The confidence of the intent is too low, so the user is asked.",
    steps="IntentResolutionStep",
    keys="intent state question reason options",
)
INTENT_CLASSIFICATION_MATCHED = declare_stage(
    "INTENT_CLASSIFICATION_MATCHED",
    Family.INTENT,
    "Matching phrases lead to one intent.",
    steps="IntentResolutionStep",
    keys="intent state matchedByRule score runnerUp runnerUpScore",
    common=True,
)
INTENT_CLASSIFIER_COLLISION = declare_stage(
    "INTENT_CLASSIFIER_COLLISION",
    Family.INTENT,
    "Matching phrases lead to different intents, so none of them decides.",
    steps="IntentResolutionStep",
    keys="userText matchedIntents matchedByRule",
)
INTENT_CLASSIFIER_NO_MATCH = declare_stage(
    "INTENT_CLASSIFIER_NO_MATCH",
    Family.INTENT,
    "No phrase matches.",
    steps="IntentResolutionStep",
    keys="userText intent state",
    sentences=(
        SentenceTemplate(
            "The message means {missing} (confidence {confidence}), but the channel does not have this intent."
        ),
        SentenceTemplate(
            "No phrase matches the message well enough: the likeliest intent, {likeliest}, has a confidence of "
            "{confidence}, and {needed} is needed[; the bot does not ask about it, because {leftOut}]."
        ),
        SentenceTemplate("No phrase matches the message.", unless=("INTENT_RESOLVED_BY_CLASSIFIER",)),
    ),
)
INTENT_CLASSIFIER_SUBSTITUTED = declare_stage(
    "INTENT_CLASSIFIER_SUBSTITUTED",
    Family.INTENT,
    "Another classifier compared the message than that of the present phrases, with the reason.",
    steps="IntentResolutionStep",
    keys="reason",
    sentences=(
        SentenceTemplate(
            "The classifier of the present phrases was still being made: the one before compared the message, and new "
            "phrases counted by their likeness.",
            {"reason": BEING_MADE},
            Tone.WARNING,
        ),
        SentenceTemplate(
            "The embedding model had given no vectors: a classifier that only knows words and letters compared the "
            "message.",
            {"reason": NO_VECTORS},
            Tone.WARNING,
        ),
    ),
)
INTENT_AGENT_SKIPPED = declare_stage(
    "INTENT_AGENT_SKIPPED",
    Family.INTENT,
    "The model was not asked for the intent, with the reason.",
    steps="IntentResolutionStep",
    keys="reason",
)
INTENT_AGENT_LLM_INPUT = declare_stage(
    "INTENT_AGENT_LLM_INPUT",
    Family.INTENT,
    "The prompt for recognising the intent.",
    steps="IntentResolutionStep",
    keys=(
        "templateFromCeConfig (AgentIntentResolver)",
        "systemPrompt",
        "userPrompt",
        "system_prompt",
        "user_prompt",
        "schema",
    ),
)
INTENT_AGENT_LLM_OUTPUT = declare_stage(
    "INTENT_AGENT_LLM_OUTPUT",
    Family.INTENT,
    "The model's answer about the intent.",
    steps="IntentResolutionStep",
    keys="json",
)
INTENT_AGENT_LLM_ERROR = declare_stage(
    "INTENT_AGENT_LLM_ERROR",
    Family.INTENT,
    "The model could not recognise the intent. The turn continues.",
    steps="IntentResolutionStep",
    keys=f"message exception errorCode {PROMPT_FAULT}",
    sentences=(
        SentenceTemplate("The model could not recognise the intent[: {message}][ ({errorCode})].", tone=Tone.WARNING),
    ),
)
INTENT_AGENT_SCORES = declare_stage(
    "INTENT_AGENT_SCORES",
    Family.INTENT,
    "The scores of the model for intents.",
    steps="IntentResolutionStep",
    keys="scores followups",
)
INTENT_AGENT_COLLISION = declare_stage(
    "INTENT_AGENT_COLLISION",
    Family.INTENT,
    "The best intents are too similar, so the user is asked which one is meant.",
    steps="IntentResolutionStep",
    keys="intent state question candidates scores",
    sentences=(SentenceTemplate("The model could not decide which intent is meant[: {question:said}]."),),
)
INTENT_AGENT_CLARIFICATION_SUPPRESSED_SCHEMA_FLOW = declare_stage(
    "INTENT_AGENT_CLARIFICATION_SUPPRESSED_SCHEMA_FLOW",
    Family.INTENT,
    "The form of the intent asks, not the model.",
    steps="IntentResolutionStep",
    keys="intent state question",
    sentences=(
        SentenceTemplate(
            "Did not ask the model's question [{question:said}]: the form of {intent} asks for its fields instead."
        ),
    ),
)
INTENT_AGENT_NEEDS_CLARIFICATION = declare_stage(
    "INTENT_AGENT_NEEDS_CLARIFICATION",
    Family.INTENT,
    "The model wants to ask the user first.",
    steps="IntentResolutionStep",
    keys="intent state question followups",
    sentences=(SentenceTemplate("The model asked the user: {question:said}.", unless=("INTENT_AGENT_COLLISION",)),),
)
INTENT_AGENT_REJECTED = declare_stage(
    "INTENT_AGENT_REJECTED",
    Family.INTENT,
    "The model's intent is rejected: invalid, not allowed, or with low confidence.",
    steps="IntentResolutionStep",
    keys="reason intent state confidence allowedIntents scores",
    sentences=(
        SentenceTemplate("The model named no intent.", {"reason": "blank intent"}, Tone.WARNING),
        SentenceTemplate(
            "Rejected the model's intent[ {intent}]: {reason:phrase rejected}[ (confidence {confidence:percent})].",
            tone=Tone.WARNING,
        ),
    ),
)
INTENT_AGENT_ACCEPTED = declare_stage(
    "INTENT_AGENT_ACCEPTED",
    Family.INTENT,
    "The model's intent is accepted.",
    steps="IntentResolutionStep",
    keys="intent state confidence scores by",
    sentences=(
        SentenceTemplate("Recognised the intent {intent} {by:phrase read_by}."),
        SentenceTemplate("Recognised the intent {intent} by the model[, confidence {confidence:percent}]."),
    ),
)
INTENT_RESOLVED_BY_CLASSIFIER = declare_stage(
    "INTENT_RESOLVED_BY_CLASSIFIER",
    Family.INTENT,
    "The intent comes from a phrase.",
    steps="IntentResolutionStep",
    keys="resolvedIntent source classifierIntent agentIntent",
    sentences=(
        SentenceTemplate(
            "The intent is {resolvedIntent}[, because the user {cause}].", unless=("INTENT_CLASSIFICATION_MATCHED",)
        ),
    ),
    common=True,
)
INTENT_RESOLVED_BY_AGENT = declare_stage(
    "INTENT_RESOLVED_BY_AGENT",
    Family.INTENT,
    "The intent comes from the model.",
    steps="IntentResolutionStep",
    keys="resolvedIntent source classifierIntent agentIntent",
)
INTENT_MISSING = declare_stage(
    "INTENT_MISSING",
    Family.INTENT,
    "No intent was recognised, so it is UNKNOWN.",
    steps="FallbackIntentStateStep",
    keys="intent state context userText fallbackIntent",
    sentences=(SentenceTemplate("No intent was recognised, so it was set to {fallbackIntent}."),),
)
STATE_MISSING = declare_stage(
    "STATE_MISSING",
    Family.INTENT,
    "There is no state, so it is UNKNOWN.",
    steps="FallbackIntentStateStep",
    keys="intent state context userText fallbackState",
    sentences=(SentenceTemplate("The conversation had no state, so it was set to {fallbackState}."),),
)
INTENT_UNRESOLVED = declare_stage(
    "INTENT_UNRESOLVED",
    Family.INTENT,
    "The intent is still UNKNOWN.",
    steps="FallbackIntentStateStep",
    keys="userText reason",
)
