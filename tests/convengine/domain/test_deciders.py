"""What decides turns has a name for people."""

from convengine.domain import rows
from convengine.domain.deciders import DECIDERS
from convengine.domain.enums import DecisionKind
from convengine.rules import explain


def test_every_kind_of_row_that_a_decision_can_name_is_there() -> None:
    judged = {explain._judge(kind.value)[0].table for kind in DecisionKind if kind in explain._JUDGES}

    assert judged | {rows.Rule.table, rows.Tool.table, rows.Planner.table} <= set(DECIDERS)
