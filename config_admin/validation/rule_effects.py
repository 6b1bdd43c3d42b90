"""Rules that change intent or state, and the values that their conditions require."""

from collections.abc import Iterator, Mapping

from convengine.engine.rules import vocabulary
from convengine.engine.rules.actions.contract import COMPUTED, REMOVED, ActionValueError, Write
from convengine.engine.rules.actions.copies import DEFAULT_KEY
from convengine.engine.rules.conditions.nodes import Comparison, Condition, ConditionField, Group, Literal, Path
from convengine.engine.rules.conditions.operators import Operator
from convengine.engine.rules.conditions.rule import UNREADABLE, read_condition
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.snapshot import Snapshot

#: Actions that move, with the column of the source, and the other column of the scope.
MOVE_COLUMNS: Mapping[str, tuple[str, str]] = {
    "SET_STATE": ("state_code", "intent_code"),
    "SET_INTENT": ("intent_code", "state_code"),
}


def is_move(rule: rows.Rule, action: str | None = None) -> bool:
    """True for an enabled rule that changes intent or state (or has this `action`)."""
    return rule.enabled and code(rule.action) in MOVE_COLUMNS and action in (None, code(rule.action))


def get_target_state(rule: rows.Rule) -> str | None:
    """The state that a rule sets. Returns None for one that sets no state."""
    return code(rule.action_value) if code(rule.action) == "SET_STATE" else None


def list_required_values(rule: rows.Rule) -> Mapping[str, str]:
    """The values that paths must have for a rule's condition to hold; empty if unknown."""
    try:
        condition = read_condition(rule)
    except UNREADABLE:
        return {}
    return dict(_list_equalities(condition.tree)) if condition else {}


def _list_equalities(condition: Condition) -> Iterator[tuple[str, str]]:
    """The comparisons that must all hold, and that name one value."""
    match condition:
        case Group(combinator, False, members) if combinator == "and" or len(members) == 1:
            for member in members:
                yield from _list_equalities(member)
        case Comparison(Path() | ConditionField() as operand, Operator("==" | "is" | "="), Literal(value)):
            # As text: a number and its text are equal in a path.
            yield f"@.{operand}" if isinstance(operand, ConditionField) else str(operand), str(value)


def list_params(rule: rows.Rule) -> tuple[str, ...]:
    """The input params that a rule writes; none for an unreadable value."""
    return tuple(write.path[1] for write in _list_writes(rule) if write.path[0] == "inputParams")


def list_written_names(snapshot: Snapshot) -> frozenset[str]:
    """Every name that enabled rules set, so that templates may use it."""
    table = snapshot.table(rows.Rule)
    writes = (write for rule in snapshot.enabled_rows(rows.Rule) for write in _list_writes(rule))
    named = (write.path[1] for write in writes if write.path[0] in ("inputParams", "context"))
    return table.memo.get("written_names", lambda: frozenset(named))


def _list_writes(rule: rows.Rule) -> list[Write]:
    """What a rule's action writes, without what it removes."""
    if code(rule.action) == "SET_JSON":
        # Not parsed, because compiling the path of every rule would take long, and its name comes before the colon.
        name = (rule.action_value or "").partition(":")[0].strip() or DEFAULT_KEY
        return [Write(("inputParams", name), COMPUTED)]
    action = vocabulary.get_action(rule.action)
    try:
        writes = action.writes(action.parse(rule.action_value)) if action else ()
    except ActionValueError:
        return []
    return [write for write in writes if write.value is not REMOVED]
