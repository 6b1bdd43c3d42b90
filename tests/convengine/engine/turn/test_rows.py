"""What decides turns has a name for people."""

from convengine.engine.rules import explain
from convengine.engine.turn import rows
from convengine.engine.turn.enums import DecisionKind
from convengine.engine.turn.rows import DECIDERS


def test_every_kind_of_row_that_a_decision_can_name_is_there() -> None:
    judged = {explain._find_judge(kind.value)[0].table for kind in DecisionKind if kind in explain._JUDGES}

    assert judged | {rows.Rule.table, rows.Tool.table, rows.Planner.table} <= set(DECIDERS)
