"""Stages of sessions: the lifecycle, and the meaning of a message."""

from convengine.engine.turn.stage import Family, SentenceTemplate, declare_stage

SESSION_LIFECYCLE = declare_stage(
    "SESSION_LIFECYCLE",
    Family.SESSION,
    "The session went from one standing to another, and why.",
    steps="LoadOrCreateConversationStep IntentResolutionStep PersistConversationStep",
    keys="from to reason turn_no",
    sentences=(
        SentenceTemplate("A new session began, because the message starts something new.", {"reason": "new_task"}),
        SentenceTemplate("The session changed from {first:lifecycle} to {to:lifecycle}[: {why}]."),
    ),
)
MESSAGE_INTENT_CLASSIFIED = declare_stage(
    "MESSAGE_INTENT_CLASSIFIED",
    Family.SESSION,
    "What the message means to its session: an answer, a change, a new task, the end.",
    steps="DialogueActStep IntentResolutionStep",
    keys="messageIntent lifecycle dialogueAct",
    common=True,
    sentences=(
        SentenceTemplate(
            "{messageIntent:phrase meant}.",
            {"messageIntent": frozenset({"ABANDON", "CONFIRMATION", "MODIFICATION", "NEW_TASK", "UNCLEAR"})},
            unless=("NOT_UNDERSTOOD", "CORRECTION_STEP_CORRECTION_PATCH_APPLIED"),
        ),
    ),
)
