"""Save checks of `ce_verbose` (tables 5.2, pipeline-2 14.3)."""

from collections.abc import Iterator

from config_admin.validation import relations
from config_admin.validation.checks import common, programs
from config_admin.validation.checks.tool import tool_unknown
from config_admin.validation.draft import Check, Draft
from config_admin.validation.findings import Finding
from config_admin.validation.wording import did_you_mean
from convengine.domain import rows
from convengine.domain.enums import StepMatch
from convengine.domain.scope import ANY
from convengine.domain.text import blank, code

Verbose = Draft[rows.Verbose]


def _texts(draft: Verbose) -> Iterator[Finding]:
    row = draft.row
    if blank(row.message) and blank(row.error_message):
        yield draft.error("VERBOSE_NO_TEXT", "message", "Enter a message or an error message.")
    for field in ("message", "error_message"):
        yield from programs.template(draft, field, getattr(row, field), intent=row.intent_code, strict=False)


def _match(draft: Verbose) -> Iterator[Finding]:
    row = draft.row
    yield from common.choice(draft, "step_match", list(StepMatch), message="Choose EXACT, REGEX or JSON_PATH.")
    yield from common.required(draft, "step_value", "Enter what the step is recognised by, or ANY.")
    yield from common.required(draft, "determinant", "Enter the event, or ANY.")
    if code(row.step_match) == StepMatch.REGEX:
        yield from programs.regex(draft, "step_value", row.step_value)
    elif code(row.step_match) == StepMatch.JSON_PATH:
        yield from programs.json_path(draft, "step_value", row.step_value)


def _references(draft: Verbose) -> Iterator[Finding]:
    row = draft.row
    if row.rule_id is not None and draft.snapshot.row(rows.Rule, row.rule_id) is None:
        yield draft.error("RULE_GONE", "rule_id", f"There is no rule {row.rule_id}.")
    discovered = (row.tool_code or "").startswith("mcp.")
    if not blank(row.tool_code) and not discovered and relations.tool(draft.snapshot, row.tool_code) is None:
        yield tool_unknown(draft)


def _names(draft: Verbose) -> Iterator[Finding]:
    row, world = draft.row, draft.world
    steps = {ANY.lower(), *(name.lower() for name in world.steps)}
    if code(row.step_match) == StepMatch.EXACT and row.step_value.strip().lower() not in steps:
        yield draft.warning(
            "CHOICE_UNKNOWN",
            "step_value",
            f"No step of the engine is called {row.step_value}.{did_you_mean(row.step_value, world.steps)}",
        )
    event = code(row.determinant)
    if event != ANY and event not in world.determinants:
        yield draft.warning(
            "CHOICE_UNKNOWN",
            "determinant",
            f"No event of the engine is called {row.determinant}.{did_you_mean(event, world.determinants)}",
        )


def _shadowed(draft: Verbose) -> Iterator[Finding]:
    yield from common.shadowed_row(draft, "step_match", "step_value", "determinant", "rule_id", "tool_code")


FORM: tuple[Check, ...] = (common.scope, _texts, _match, common.priority, _references)
FIT: tuple[Check, ...] = (common.scope_fit, _names, common.duplicate_row, _shadowed)
