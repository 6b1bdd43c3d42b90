"""What the schema lacks for a distributed database; new tables do not add to it unseen. `-s` shows the whole table."""

from tests.sharding import format_table, list_tables


def test_only_these_tables_lack_the_column() -> None:
    print(format_table())
    lacking = {readiness.table for readiness in list_tables() if readiness.gaps and not readiness.is_scoped}

    assert lacking == {"ce_turn_index", "ce_turn_text", "ce_inbox_message"}


def test_the_tables_of_a_turn_have_the_key() -> None:
    scoped = {readiness.table for readiness in list_tables() if readiness.is_scoped}

    assert {
        "ce_conversation", "ce_conversation_history", "ce_running_event", "ce_session_unit", "ce_idempotency",
        "ce_turn_ticket", "ce_pending_action_execution",
    } <= scoped  # fmt: skip
