"""Save checks of `ce_rule` (tables 2.3, pipeline-2 7)."""

from collections.abc import Iterator

from config_admin.tables.rule import action_checks, move_checks
from config_admin.validation import common
from config_admin.validation.draft import Draft, SaveChecks
from config_admin.validation.findings import Finding
from convengine.engine.rules.json_path.nodes import Members
from convengine.engine.rules.json_path.parser import parse_path
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.enums import RuleType
from convengine.engine.turn.facts import SESSION_KEYS

Rule = Draft[rows.Rule]
#: Facts that every turn has and that are not boolean.
_ALWAYS_PRESENT = frozenset(SESSION_KEYS) - {
    "schemaComplete",
    "hasContainerData",
    "hasAnySchemaValue",
    "intentLocked",
    "postIntentRule",
}


def _check_constant_path(draft: Rule) -> Iterator[Finding]:
    """A plain path to a fact that every turn has always holds (pipeline-2 0.8)."""
    row = draft.row
    if code(row.rule_type) != RuleType.JSON_PATH or not row.null_leaf_matches:
        return
    match parse_path(row.match_pattern or "").steps:
        case (Members((name,)),) if name in _ALWAYS_PRESENT:
            yield draft.warning(
                "PATH_ALWAYS_MATCHES",
                "match_pattern",
                (
                    f"Every turn has {name}, even if it is empty, so this condition is always met. Compare it with a "
                    "value, or turn off “also match an empty value”."
                ),
            )


SAVE_CHECKS = SaveChecks(
    form=(action_checks.check_action,),
    fit=(
        _check_constant_path,
        action_checks.check_engine_keys,
        action_checks.check_phase,
        move_checks.check_unconditional_move,
        move_checks.check_missing_edge,
        move_checks.check_target_response,
        common.check_duplicate_row,
    ),
    slow=(move_checks.check_flip_flop,),
)
