"""Save checks of `ce_verbose`."""

from collections.abc import Iterator

from config_admin.tables.tool.checks import report_unknown_tool
from config_admin.validation import common, relations
from config_admin.validation.draft import Draft, SaveChecks
from config_admin.validation.findings import Finding
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


SAVE_CHECKS = SaveChecks(
    form=(_check_texts, _check_references),
    fit=(
        _check_names,
        common.check_duplicate_row,
        common.make_shadowing_check("step_match", "step_value", "determinant", "rule_id", "tool_code"),
    ),
)
