"""What the schema lacks for a distributed database; new tables do not add to it unseen. `-s` shows the whole table."""

import re
from pathlib import Path

from tests.sharding import format_table, list_tables

SCALING = (Path(__file__).resolve().parent.parent / "docs/scaling.md").read_text()


def test_the_manual_names_the_tables_that_lack_the_column() -> None:
    print(format_table())
    lacking = {readiness.table for readiness in list_tables() if readiness.gaps and not readiness.is_scoped}

    (named,) = re.findall(r"add the column to (.+?), and replace", SCALING, re.DOTALL)
    assert set(re.findall(r"`(\w+)`", named)) == lacking


def test_the_tables_of_a_turn_have_the_key() -> None:
    scoped = {readiness.table for readiness in list_tables() if readiness.is_scoped}

    assert {
        "ce_conversation", "ce_conversation_history", "ce_running_event", "ce_session_unit", "ce_idempotency",
        "ce_turn_ticket", "ce_pending_action_execution",
    } <= scoped  # fmt: skip
