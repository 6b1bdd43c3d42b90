"""Stages of the interaction policy."""

from convengine.engine.turn.stage import Family, SentenceTemplate, declare_stage

INTERACTION_POLICY_DECIDED = declare_stage(
    "INTERACTION_POLICY_DECIDED",
    Family.DIALOGUE,
    "How the turn is routed, based on the dialogue act and open items.",
    steps="InteractionPolicyStep",
    keys=(
        "dialogueAct policyDecision skipIntentResolution hasPendingAction hasPendingSlot intent state "
        "decidedBy matrixKey"
    ),
    common=True,
    sentences=(
        SentenceTemplate(
            "The message was taken as the value that the bot had asked for.",
            {"policyDecision": "FILL_PENDING_SLOT"},
            unless=("NOT_UNDERSTOOD", "FIELDS_READ"),
        ),
    ),
)
DISAMBIGUATION_RESOLVED = declare_stage(
    "DISAMBIGUATION_RESOLVED",
    Family.DIALOGUE,
    "The user's answer says which action is meant.",
    steps="InteractionPolicyStep",
    keys="actionKey reply",
    sentences=(SentenceTemplate("The reply {reply:said} selects the action {actionKey}."),),
)
