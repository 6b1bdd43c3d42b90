"""Stages of policies."""

from convengine.engine.turn.stage import Family, SentenceTemplate, Tone, declare_stage

POLICY_BLOCK = declare_stage(
    "POLICY_BLOCK",
    Family.POLICY,
    "A policy blocked the message.",
    steps="PolicyEnforcementStep",
    keys="policyId ruleType pattern description matchedExcerpt reason",
    always_recorded=True,
    sentences=(
        SentenceTemplate(
            "A policy has blocked this conversation, so its answer was repeated. A reset unblocks it.",
            {"reason": "TERMINAL"},
            Tone.WARNING,
        ),
        SentenceTemplate(
            "A model judged that {policyId:row ce_policy} forbids the message, so it was blocked.",
            {"ruleType": "LLM"},
            Tone.WARNING,
            unless=("POLICY_LLM_ERROR",),
        ),
        SentenceTemplate(
            "Blocked by {policyId:row ce_policy}[, because the message contains {matchedExcerpt:said}].",
            tone=Tone.WARNING,
        ),
    ),
)
POLICY_LLM_ERROR = declare_stage(
    "POLICY_LLM_ERROR",
    Family.POLICY,
    "The model that checks a policy failed. A setting decides what happens.",
    steps="PolicyEnforcementStep",
    keys="policyId message exception errorCode failMode",
    sentences=(
        SentenceTemplate(
            "The model that checks {policyId:row ce_policy} failed[ ({message})][, {failMode:phrase fail_mode}].",
            tone=Tone.ERROR,
        ),
    ),
)
