"""`ce_policy`: messages that are never processed."""

from collections.abc import Iterator

from django.db import models

from config_admin.health.texts.predicate import TextPredicate, is_impossible
from config_admin.tables.base_model import ControlPlaneRow, SpokenRow, index
from config_admin.tables.model_fields import make_enabled_field, note, priority, word
from config_admin.validation import programs
from config_admin.validation.columns import REGEX, ColumnProblem, LanguageByWord, NaturalKey, declare_column
from config_admin.validation.draft import Draft, Finding, SaveChecks
from convengine.engine.rules import text_bank
from convengine.engine.rules.patterns import PatternError, find_double_backslash
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
        is_dead = find_double_backslash(pattern) is not None or is_impossible([TextPredicate(text_bank.REGEX, pattern)])
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


class CePolicy(SpokenRow, ControlPlaneRow):
    """A text that ends the turn before anything else happens. It has no scope."""

    save_checks = SaveChecks(
        form=(_check_matches_everything, _check_dead_pattern),
        fit=(_check_harmless_texts, _check_model),
    )
    natural_key = NaturalKey(("rule_type", "pattern"))

    policy_id = models.BigAutoField("id", primary_key=True)
    rule_type = word(
        PolicyType,
        unknown=ColumnProblem("RULE_TYPE", "Choose {one_of}.{hint}"),
        verbose_name="match type",
    )
    pattern = declare_column(
        models.TextField(
            help_text="Upper and lower case are treated as equal. For LLM, describe the criterion in words."
        ),
        required=ColumnProblem("PATTERN_BLANK", "Enter a pattern."),
        language=LanguageByWord("rule_type", {"REGEX": REGEX}),
    )
    response_text = declare_column(
        models.TextField("answer", help_text="The answer to the user when this policy applies."),
        required=ColumnProblem("FIELD_REQUIRED", "Enter the answer for messages that match."),
    )
    priority = priority(10, "Lower numbers come first. The first match stops the turn.")
    enabled = make_enabled_field()
    description = note()

    class Meta(ControlPlaneRow.Meta):
        db_table = "ce_policy"
        verbose_name = "policy"
        verbose_name_plural = "policies"
        indexes = [index("ce_policy_order", "enabled", "priority")]
