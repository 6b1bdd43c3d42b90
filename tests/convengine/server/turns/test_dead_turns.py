import uuid

import pytest

from audit.models import CeAudit
from convengine.server.sessions.models import CeConversationHistory
from tests.convengine.server.turns.test_take_turn import hold_lease, say
from tests.worlds import create_help_desk

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]


def test_a_dead_turn_leaves_its_record_and_the_conversation_goes_on() -> None:
    create_help_desk()
    conversation_id = str(uuid.uuid4())
    say(conversation_id)
    hold_lease(conversation_id, -1)

    answer = say(conversation_id, "fees")

    assert answer.turn_no == 3
    dead = CeConversationHistory.objects.get(turn_no=2)
    assert (dead.status, dead.error_code, dead.user_input, dead.config_version) == (
        "FAILED",
        "LEASE_EXPIRED",
        "lost words",
        3,
    )
    events = CeAudit.objects.filter(turn_no=2).order_by("seq")
    assert [event.stage for event in events] == ["USER_INPUT", "ENGINE_UNKNOWN_FAILURE"]
    assert events[1].payload_json["reason"] == "LEASE_EXPIRED"
