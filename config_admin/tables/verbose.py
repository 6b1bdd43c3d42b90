"""`ce_verbose`: progress and error texts."""

from collections.abc import Iterator

from django.db import models

from config_admin.tables.base_model import ScopedRow, SpokenRow, index
from config_admin.tables.model_fields import make_enabled_field, not_blank, optional_name, optional_text, priority, word
from config_admin.tables.tool import report_unknown_tool
from config_admin.validation import common, relations
from config_admin.validation.columns import (
    PATH,
    REGEX,
    TEMPLATE,
    ColumnProblem,
    LanguageByWord,
    NaturalKey,
    Reference,
    declare_column,
)
from config_admin.validation.draft import Draft, Finding, SaveChecks
from convengine.engine.text.compare import blank, code
from convengine.engine.text.wording import did_you_mean
from convengine.engine.turn import rows
from convengine.engine.turn.enums import StepMatch
from convengine.engine.turn.scope import ANY

Verbose = Draft[rows.Verbose]


def _check_texts(draft: Verbose) -> Iterator[Finding]:
    row = draft.row
    if blank(row.message) and blank(row.error_message):
        yield draft.error("VERBOSE_NO_TEXT", "message", "Enter a message or an error message.")


def _check_references(draft: Verbose) -> Iterator[Finding]:
    row = draft.row
    if row.rule_id is not None and draft.snapshot.row(rows.Rule, row.rule_id) is None:
        yield draft.error("RULE_GONE", "rule_id", f"Rule {row.rule_id} does not exist.")
    discovered = (row.tool_code or "").startswith("mcp.")
    if not blank(row.tool_code) and not discovered and relations.find_tool(draft.snapshot, row.tool_code) is None:
        yield report_unknown_tool(draft)


def _check_names(draft: Verbose) -> Iterator[Finding]:
    row, world = draft.row, draft.world
    steps = {ANY.lower(), *(name.lower() for name in world.steps)}
    if code(row.step_match) == StepMatch.EXACT and row.step_value.strip().lower() not in steps:
        yield draft.warning(
            "CHOICE_UNKNOWN",
            "step_value",
            f"Unknown step {row.step_value}.{did_you_mean(row.step_value, world.steps)}",
        )
    event = code(row.determinant)
    if event != ANY and event not in world.determinants:
        yield draft.warning(
            "CHOICE_UNKNOWN",
            "determinant",
            f"Unknown event {row.determinant}.{did_you_mean(event, world.determinants)}",
        )


class CeVerbose(SpokenRow, ScopedRow):
    """A progress text for an event of a turn."""

    save_checks = SaveChecks(
        form=(_check_texts, _check_references),
        fit=(
            _check_names,
            common.check_duplicate_row,
            common.make_shadowing_check("step_match", "step_value", "determinant", "rule_id", "tool_code"),
        ),
    )
    natural_key = NaturalKey(
        ("intent_code", "state_code", "step_match", "step_value", "determinant", "rule_id", "tool_code")
    )

    verbose_id = models.BigAutoField("id", primary_key=True)
    step_match = word(
        StepMatch,
        unknown=ColumnProblem("CHOICE_UNKNOWN", "Choose {one_of}.{hint}"),
        default=StepMatch.EXACT.value,
        verbose_name="step match type",
    )
    step_value = declare_column(
        models.CharField("step", help_text="For example McpToolStep, .*Step$ or $.stepInfo.error."),
        required=ColumnProblem("FIELD_REQUIRED", "Enter the step, or ANY."),
        reference=Reference.STEP,
        language=LanguageByWord("step_match", {"REGEX": REGEX, "JSON_PATH": PATH}),
    )
    determinant = declare_column(
        models.CharField("event", help_text="The name of the event, or ANY."),
        required=ColumnProblem("FIELD_REQUIRED", "Enter the event, or ANY."),
        reference=Reference.EVENT,
    )
    rule_id = models.BigIntegerField("rule", null=True, blank=True, help_text="Shown only for events of this rule.")
    tool_code = declare_column(
        optional_name(verbose_name="tool", help_text="Shown only for events of this tool."), reference=Reference.TOOL
    )
    message = declare_column(
        optional_text(help_text="The text to show. A template."), language=TEMPLATE, is_strict=False
    )
    error_message = declare_column(
        optional_text(help_text="The text to show when the event is an error. A template."),
        language=TEMPLATE,
        is_strict=False,
    )
    priority = priority(help_text="If several texts match equally well, the lowest number is shown.")
    enabled = make_enabled_field()

    class Meta(ScopedRow.Meta):
        db_table = "ce_verbose"
        verbose_name = "progress text"
        indexes = [
            index(
                "ce_verbose_lookup",
                "enabled",
                "intent_code",
                "state_code",
                "determinant",
                "step_match",
                "step_value",
                "rule_id",
                "tool_code",
                "priority",
            )
        ]
        constraints = [
            *ScopedRow.Meta.constraints,
            *not_blank(
                "step_match",
                "step_value",
                "determinant",
                code="FIELD_REQUIRED",
                message="Enter a value, or ANY for all.",
            ),
        ]
