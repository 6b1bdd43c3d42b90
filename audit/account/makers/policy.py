"""What may not be: policies that block a message, and the guardrail before actions and tools."""

from collections.abc import Mapping

from audit.account.making import Maker, Say
from audit.account.sentence import Tone
from convengine.domain.stages import Stage

MAKERS: Mapping[str, Maker] = {
    Stage.POLICY_BLOCK: (
        Say(
            "Answered again with what had blocked the conversation: it takes no messages until it is reset.",
            {"reason": "TERMINAL"},
            Tone.WARNING,
        ),
        Say(
            "A model judged that {policyId:row ce_policy} forbids the message[ ({description})], so it was blocked.",
            {"ruleType": "LLM"},
            Tone.WARNING,
        ),
        Say(
            "Blocked by {policyId:row ce_policy}[ ({description})]"
            "[, because the message contains {matchedExcerpt:said}][, which {pattern:pattern} forbids].",
            tone=Tone.WARNING,
        ),
    ),
    Stage.POLICY_LLM_ERROR: (
        Say(
            "The model that was to judge {policyId:row ce_policy} failed[ ({message})][, {failMode:phrase fail_mode}].",
            tone=Tone.ERROR,
        ),
    ),
    Stage.GUARDRAIL_ALLOW: (
        Say("The guardrail let a sensitive message pass, because it was approved.", {"sensitive": True}),
    ),
    Stage.GUARDRAIL_DENY: (
        Say(
            "The guardrail denied it, because {reason:phrase guardrail}[; what is sensitive is "
            "{matchedOn:phrase matched_on}].",
            tone=Tone.WARNING,
        ),
    ),
}
