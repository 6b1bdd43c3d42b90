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
            "Decided to {policyDecision:phrase decision}.",
            {"policyDecision": frozenset({"EXECUTE_PENDING_ACTION", "FILL_PENDING_SLOT", "REJECT_PENDING_ACTION"})},
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
