"""Save checks of `ce_rule` (tables 2.3, pipeline-2 7)."""

from collections.abc import Iterator

from config_admin.validation.checks import common, programs, rule_moves
from config_admin.validation.draft import Check, Draft
from config_admin.validation.findings import Finding
from config_admin.validation.wording import did_you_mean
from convengine.domain import rows
from convengine.domain.enums import MatchTarget, RulePhase, RuleType
from convengine.domain.text import code

Rule = Draft[rows.Rule]


def _phase(draft: Rule) -> Iterator[Finding]:
    value = draft.row.phase
    yield from common.choice(
        draft,
        "phase",
        list(RulePhase),
        finding_code="PHASE",
        message=f"Phase {value} is not known. Choose one of: {', '.join(RulePhase)}."
        f"{did_you_mean(str(value), RulePhase)}",
    )


def _condition(draft: Rule) -> Iterator[Finding]:
    row = draft.row
    yield from common.choice(
        draft,
        "rule_type",
        list(RuleType),
        finding_code="RULE_TYPE",
        extra=draft.world.rule_types,
        message="Choose EXACT, REGEX, JSON_PATH or CONTEXT_JSON_PATH.",
    )
    yield from common.choice(draft, "match_target", list(MatchTarget))
    yield from common.required(draft, "match_pattern", "Enter what must hold.", "PATTERN_BLANK")
    if code(row.rule_type) == RuleType.REGEX:
        yield from programs.regex(draft, "match_pattern", row.match_pattern)
    elif code(row.rule_type) in (RuleType.JSON_PATH, RuleType.CONTEXT_JSON_PATH):
        yield from programs.json_path(draft, "match_pattern", row.match_pattern)


FORM: tuple[Check, ...] = (_phase, common.scope, _condition, common.priority)
FIT: tuple[Check, ...] = (
    common.scope_fit,
    rule_moves.flip_flop,
    rule_moves.always_true,
    rule_moves.missing_edge,
    rule_moves.without_response,
    common.duplicate_row,
)
