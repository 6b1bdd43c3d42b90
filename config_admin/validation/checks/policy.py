"""Save checks of `ce_policy` (tables 2.5, pipeline-1 17.2)."""

from collections.abc import Iterator

from config_admin.validation.checks import common, patterns
from config_admin.validation.draft import Check, Draft
from config_admin.validation.findings import Finding
from convengine.domain import rows, settings
from convengine.domain.catalogue.policy import ENABLE_LLM
from convengine.domain.enums import PolicyType
from convengine.domain.text import code

Policy = Draft[rows.Policy]
#: Texts that no policy should block.
HARMLESS = (
    "Hello",
    "Good morning, can you help me?",
    "Where is my order?",
    "I would like to change my address.",
    "Yes, please.",
    "Thank you very much.",
    "What can you do for me?",
    "My number is 12345.",
)


def _type(draft: Policy) -> Iterator[Finding]:
    yield from common.choice(
        draft,
        "rule_type",
        list(PolicyType),
        finding_code="RULE_TYPE",
        message="Choose REGEX, EXACT, CONTAINS, STARTS_WITH or LLM.",
    )


def _response(draft: Policy) -> Iterator[Finding]:
    yield from common.required(draft, "response_text", "Enter the text the user gets when this applies.")


def _blocks_everything(draft: Policy) -> Iterator[Finding]:
    if patterns.catches_all(draft.row.rule_type, draft.row.pattern):
        yield draft.error("POLICY_BLOCKS_EVERYTHING", "pattern", "This would block every message.")


def _blocks_harmless(draft: Policy) -> Iterator[Finding]:
    for text in HARMLESS:
        if code(draft.row.rule_type) != PolicyType.LLM and patterns.hits(draft.row.rule_type, draft.row.pattern, text):
            yield draft.warning("PATTERN_TOO_BROAD", "pattern", f"This also blocks harmless messages such as “{text}”")
            return


def _judged_by_model(draft: Policy) -> Iterator[Finding]:
    if code(draft.row.rule_type) != PolicyType.LLM:
        return
    if not draft.world.model_configured:
        yield draft.warning(
            "LLM_NOT_CONFIGURED",
            "rule_type",
            "No model is configured, so nothing can judge this row (PolicyEnforcementStep / LLM_FAIL_MODE decides).",
        )
    elif not settings.read(draft.snapshot, ENABLE_LLM).value:
        yield draft.warning(
            "LLM_NOT_CONFIGURED",
            "rule_type",
            "Rows of type LLM are switched off (PolicyEnforcementStep / ENABLE_LLM), so this one is not used.",
        )


FORM: tuple[Check, ...] = (_type, patterns.written, _response, common.priority, _blocks_everything)
FIT: tuple[Check, ...] = (_blocks_harmless, _judged_by_model)
