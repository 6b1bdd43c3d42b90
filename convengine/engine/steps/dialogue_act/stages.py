"""Stages of the dialogue act."""

from convengine.engine.turn.stage import Family, SentenceTemplate, Tone, declare_stage

DIALOGUE_ACT_LLM_INPUT = declare_stage(
    "DIALOGUE_ACT_LLM_INPUT",
    Family.DIALOGUE,
    "The prompt for classifying the dialogue act.",
    steps="DialogueActStep",
    keys="system_prompt user_prompt schema",
)
DIALOGUE_ACT_LLM_OUTPUT = declare_stage(
    "DIALOGUE_ACT_LLM_OUTPUT",
    Family.DIALOGUE,
    "The model's answer about the dialogue act.",
    steps="DialogueActStep",
    keys="json",
)
DIALOGUE_ACT_LLM_ERROR = declare_stage(
    "DIALOGUE_ACT_LLM_ERROR",
    Family.DIALOGUE,
    "The model could not classify the dialogue act. The result of the patterns is used.",
    steps="DialogueActStep",
    keys="message exception",
    sentences=(
        SentenceTemplate(
            "The model could not classify the message[: {message}]; the patterns decided.", tone=Tone.WARNING
        ),
    ),
)
DIALOGUE_ACT_CLASSIFIED = declare_stage(
    "DIALOGUE_ACT_CLASSIFIED",
    Family.DIALOGUE,
    "The dialogue act of the message (yes, no, question, …) before rules are evaluated.",
    steps="DialogueActStep",
    keys=(
        "userText dialogueAct dialogueActConfidence dialogueActSource dialogueActResolveMode intent state"
        " regexAct llmCandidate guardApplied guardReason standaloneQuery"
    ),
    common=True,
    sentences=(
        SentenceTemplate(
            "The model read that the user {llmCandidate:act}, but the patterns overruled it.",
            {"guardApplied": True},
            Tone.WARNING,
        ),
        SentenceTemplate(
            "The user {dialogueAct:act} (by the model[, confidence {dialogueActConfidence:percent}])"
            "[; the message was rewritten as {standaloneQuery:said}].",
            {"dialogueActSource": "LLM"},
        ),
        # The other acts are what the patterns take any message for.
        SentenceTemplate(
            "The user {dialogueAct:act}[; the message was rewritten as {standaloneQuery:said}].",
            {"dialogueAct": frozenset({"AFFIRM", "NEGATE", "QUESTION", "GREETING"})},
        ),
        SentenceTemplate(
            "The user {dialogueAct:act}.",
            {"dialogueAct": frozenset({"EDIT", "RESET"})},
            unless=("CONVERSATION_RESET", "CORRECTION_STEP_CORRECTION_PATCH_APPLIED"),
        ),
        SentenceTemplate("The message was rewritten as {standaloneQuery:said}."),
    ),
)
DIALOGUE_ACT_FINAL = declare_stage(
    "DIALOGUE_ACT_FINAL",
    Family.DIALOGUE,
    "The final dialogue act after rules were evaluated.",
    steps="DialogueActStep",
    keys="dialogueAct dialogueActSource",
    sentences=(SentenceTemplate("A rule decided that the user {dialogueAct:act}.", unless=("SET_DIALOGUE_ACT",)),),
)
