"""The manual lists what the schema lacks for a distributed database; new tables do not add to it unseen."""

from tests.sharding import SCALING, format_table, list_tables


def test_the_manual_lists_every_table_and_what_it_lacks() -> None:
    assert format_table() in SCALING.read_text(), "Run CE_DEBUG=true python -m tests.sharding."


def test_the_tables_of_a_turn_have_the_key() -> None:
    scoped = {readiness.table for readiness in list_tables() if readiness.is_scoped}

    assert {
        "ce_conversation", "ce_conversation_history", "ce_running_event", "ce_session_unit", "ce_idempotency",
        "ce_turn_ticket", "ce_pending_action_execution",
    } <= scoped  # fmt: skip
