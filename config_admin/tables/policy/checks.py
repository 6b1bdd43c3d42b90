"""Save checks of `ce_policy`."""

from collections.abc import Iterator

from config_admin.health.texts.predicate import TextPredicate, is_impossible
from config_admin.validation import programs
from config_admin.validation.draft import Draft, SaveChecks
from config_admin.validation.findings import Finding
from convengine.engine.rules.patterns import PatternError, find_double_backslash
from convengine.engine.rules.text_bank import REGEX
from convengine.engine.steps.policy.step import ENABLE_LLM, LLM_FAIL_MODE
from convengine.engine.text.compare import blank, code
from convengine.engine.turn import live_settings, rows
from convengine.engine.turn.enums import PolicyType

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


def _check_matches_everything(draft: Policy) -> Iterator[Finding]:
    if programs.matches_everything(draft.row.rule_type, draft.row.pattern):
        yield draft.error(
            "POLICY_BLOCKS_EVERYTHING", "pattern", "This would block every message. Make the pattern more specific."
        )


def _check_dead_pattern(draft: Policy) -> Iterator[Finding]:
    r"""No ordinary text matches the expression: `^` after a text, `\\b` for a word boundary."""
    pattern = str(draft.row.pattern or "")
    if code(draft.row.rule_type) != PolicyType.REGEX or blank(pattern):
        return
    try:
        is_dead = find_double_backslash(pattern) is not None or is_impossible([TextPredicate(REGEX, pattern)])
    except PatternError:
        return
    if is_dead:
        yield draft.error(
            "POLICY_NEVER_MATCHES",
            "pattern",
            r"No message matches this pattern, so the policy stops nothing. For a word boundary write \b, "
            r"for a backslash [\\].",
        )


def _check_harmless_texts(draft: Policy) -> Iterator[Finding]:
    for text in HARMLESS:
        if code(draft.row.rule_type) != PolicyType.LLM and programs.is_match(
            draft.row.rule_type, draft.row.pattern, text
        ):
            yield draft.warning("PATTERN_TOO_BROAD", "pattern", f"This also blocks harmless messages such as “{text}”")
            return


def _check_model(draft: Policy) -> Iterator[Finding]:
    if code(draft.row.rule_type) != PolicyType.LLM:
        return
    if not draft.world.model_configured:
        yield draft.warning(
            "LLM_NOT_CONFIGURED",
            "rule_type",
            f"No model is configured to check this policy. The setting “{LLM_FAIL_MODE.label}” decides what happens.",
        )
    elif not live_settings.read(draft.snapshot, ENABLE_LLM).value:
        yield draft.warning(
            "LLM_NOT_CONFIGURED",
            "rule_type",
            f"The setting “{ENABLE_LLM.label}” is off, so this policy is ignored.",
        )


SAVE_CHECKS = SaveChecks(
    form=(_check_matches_everything, _check_dead_pattern),
    fit=(_check_harmless_texts, _check_model),
)
