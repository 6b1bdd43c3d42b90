"""The lifecycle changes of a session in some of its turns."""

import uuid
from typing import Any

import pytest

from audit.record.queries import list_moves
from convengine.server.sessions.models import CeConversation
from tests.record import add_outside, entry, store_turn

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]


def move(to: str, turn_no: int, seq: int) -> dict[str, Any]:
    return entry(
        seq,
        "SESSION_LIFECYCLE",
        {"from": "RUNNING", "to": to, "reason": f"{to}-{turn_no}", "turn_no": turn_no},
    )


@pytest.fixture
def session() -> CeConversation:
    return CeConversation.objects.create(conversation_id=uuid.uuid4())


def test_moves_stand_in_the_order_of_their_turns_and_those_behind_a_turn_follow_it(session: CeConversation) -> None:
    for number in (1, 2, 3):
        store_turn(session, [entry(1, "STEP_ENTER"), move("RUNNING", number, 5), move("AWAITING_USER", number, 9)])
    add_outside(session, "SESSION_LIFECYCLE", move("ABORTED", 2, 1)["payload"])
    other = CeConversation.objects.create(conversation_id=uuid.uuid4(), remote_jid="other")
    add_outside(other, "SESSION_LIFECYCLE", move("COMPLETE", 2, 1)["payload"])

    found = list_moves(session.pk, 2, 3)

    assert [(one.end, one.turn_no) for one in found] == [
        ("RUNNING", 2), ("AWAITING_USER", 2), ("ABORTED", 2), ("RUNNING", 3), ("AWAITING_USER", 3),
    ]  # fmt: skip


@pytest.mark.parametrize(("status", "told"), [("OK", ["RUNNING", "INTERRUPTED"]), ("FAILED", ["INTERRUPTED"]),
                                              ("INTERRUPTED", ["INTERRUPTED"])])  # fmt: skip
def test_of_a_turn_that_was_not_stored_only_its_interruption_is_told(
    session: CeConversation, status: str, told: list[str]
) -> None:
    store_turn(session, [move("RUNNING", 2, 4), move("INTERRUPTED", 2, 9)], turn_no=2, status=status)

    assert [one.end for one in list_moves(session.pk, 1, 2)] == told
