"""Save checks of `ce_rule` (tables 2.3, pipeline-2 7)."""

from collections.abc import Iterator

from config_admin.validation.checks import common, programs, rule_actions, rule_moves
from config_admin.validation.draft import Check, Draft
from config_admin.validation.findings import Finding
from config_admin.validation.wording import did_you_mean
from convengine.domain import rows
from convengine.domain.enums import MatchTarget, RulePhase, RuleType
from convengine.domain.facts import SESSION_KEYS
from convengine.domain.text import code
from convengine.rules.json_path.nodes import Members
from convengine.rules.json_path.parser import parse_path

Rule = Draft[rows.Rule]
#: Facts that every turn has and that are no truth values.
_ALWAYS_THERE = frozenset(SESSION_KEYS) - {
    "schemaComplete",
    "hasContainerData",
    "hasAnySchemaValue",
    "intentLocked",
    "postIntentRule",
}


def _phase(draft: Rule) -> Iterator[Finding]:
    value = draft.row.phase
    if code(str(value or "")) in set(RulePhase):
        # Nearly every rule: no need to look for what else may have been meant.
        return
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


def _always_there(draft: Rule) -> Iterator[Finding]:
    """A plain path to a fact that every turn has, and that is no yes or no, holds always (pipeline-2 0.8)."""
    row = draft.row
    if code(row.rule_type) != RuleType.JSON_PATH or not row.null_leaf_matches:
        return
    match parse_path(row.match_pattern or "").steps:
        case (Members((name,)),) if name in _ALWAYS_THERE:
            yield draft.warning(
                "PATH_ALWAYS_MATCHES",
                "match_pattern",
                f"Every turn has {name}, be it empty, so this always holds. Compare it with something, or let an empty "
                "value not count.",
            )


FORM: tuple[Check, ...] = (_phase, common.scope, _condition, rule_actions.action, common.priority)
FIT: tuple[Check, ...] = (
    common.scope_fit,
    _always_there,
    rule_actions.engine_key,
    rule_actions.pointless,
    rule_moves.flip_flop,
    rule_moves.always_true,
    rule_moves.missing_edge,
    rule_moves.without_response,
    common.duplicate_row,
)
