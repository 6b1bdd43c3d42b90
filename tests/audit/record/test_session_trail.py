"""The moves of a session in some of its turns, and the rows that decided those."""

import uuid
from typing import Any

import pytest
from django.utils import timezone

from audit.models import CeAudit, CeTurnRow
from audit.record.session_trail import list_deciding_rows, list_moves
from convengine.server.sessions.models import CeConversation, CeConversationHistory

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]
SESSION = uuid.uuid4()


def move(to: str, turn_no: int, seq: int, *, inside: bool = True, of: uuid.UUID = SESSION, **more: Any) -> None:
    payload = {"from": "RUNNING", "to": to, "reason": f"{to}-{turn_no}", "turn_no": turn_no}
    CeAudit.objects.create(
        conversation_id=of, turn_no=turn_no if inside else None, seq=seq, stage="SESSION_LIFECYCLE",
        created_at=timezone.now(), payload_json=payload, **more,
    )  # fmt: skip


def test_moves_stand_in_the_order_of_their_turns_and_those_behind_a_turn_follow_it() -> None:
    for number in (1, 2, 3):
        move("RUNNING", number, 5)
        move("AWAITING_USER", number, 9)
    move("ABORTED", 2, 1, inside=False)
    move("COMPLETE", 2, 1, of=uuid.uuid4())
    CeAudit.objects.create(conversation_id=SESSION, turn_no=2, seq=1, stage="STEP_ENTER", payload_json={})

    found = list_moves(SESSION, 2, 3)

    assert [(one.end, one.turn_no) for one in found] == [
        ("RUNNING", 2), ("AWAITING_USER", 2), ("ABORTED", 2), ("RUNNING", 3), ("AWAITING_USER", 3),
    ]  # fmt: skip


@pytest.mark.parametrize(("status", "told"), [("OK", ["RUNNING", "INTERRUPTED"]), ("FAILED", ["INTERRUPTED"]),
                                              ("INTERRUPTED", ["INTERRUPTED"])])  # fmt: skip
def test_of_a_turn_that_was_not_stored_only_its_interruption_is_told(status: str, told: list[str]) -> None:
    row = CeConversation.objects.create(conversation_id=uuid.uuid4())
    CeConversationHistory.objects.create(
        conversation=row, turn_id=uuid.uuid4(), turn_no=2, status=status, config_version=1
    )
    move("RUNNING", 2, 4, of=row.pk)
    move("INTERRUPTED", 2, 9, of=row.pk)

    assert [one.end for one in list_moves(row.pk, 1, 2)] == told


def test_the_rows_that_decided_stand_by_turn_in_their_order() -> None:
    first, second = uuid.uuid4(), uuid.uuid4()
    for turn_id, table, pk, role in (
        (first, "ce_intent_classifier", "3", "CLASSIFIER"),
        (second, "ce_rule", "4", "RULE"),
        (first, "ce_response", "5", "RESPONSE"),
    ):
        CeTurnRow.objects.create(turn_id=turn_id, table_name=table, row_pk=pk, role=role)

    found = list_deciding_rows([first])

    assert [(one.role, one.table, one.pk) for one in found[first]] == [
        ("CLASSIFIER", "ce_intent_classifier", "3"), ("RESPONSE", "ce_response", "5"),
    ]  # fmt: skip
    assert second not in found
