"""What fits a pattern of AUDIT/REDACT_PATTERNS is written nowhere in the record."""

import uuid

import pytest

from audit.chain import verify
from audit.models import CeAudit
from config_admin.models import CeConfig
from convengine.sessions.models import CeConversation, CeConversationHistory
from convengine.sessions.recording import restore
from tests.api import Caller
from tests.worlds import desk

pytestmark = pytest.mark.django_db
CARD = "4111 1111 1111 1111"


@pytest.fixture
def caller() -> Caller:
    desk()
    CeConfig.objects.create(
        config_type="AUDIT", config_key="REDACT_PATTERNS", config_value="\\b(?:\\d[ -]?){15}\\d\\b\nDE\\d{20}"
    )
    return Caller()


def test_what_fits_is_masked_in_events_record_recording_and_what_was_said_last(caller: Caller) -> None:
    caller.say(f"hours, my card is {CARD}", inputParams={"card": 4111111111111111, "note": f'"{CARD}"\n', "n": 12})
    caller.say("hours")
    record = CeConversationHistory.objects.get(turn_no=1)
    recorded = restore(record.recording)

    kept = str(list(CeAudit.objects.values_list())) + str(list(CeConversationHistory.objects.values_list()))
    kept += str(CeConversation.objects.values("last_user_text", "last_assistant_json", "context_summary"))
    assert CARD not in kept
    assert "4111111111111111" not in kept
    assert record.user_input == "hours, my card is ***"
    assert recorded.request.input_params == {"card": "***", "note": '"***"\n', "n": 12}
    assert (record.replayable, CeConversationHistory.objects.get(turn_no=2).status) == (False, "OK")
    assert verify.one(uuid.UUID(caller.conversation_id)).intact


def test_where_nothing_fits_everything_is_as_without_patterns(caller: Caller) -> None:
    caller.say("hours", inputParams={"n": 4111})

    record = CeConversationHistory.objects.get()
    assert (record.user_input, record.replayable) == ("hours", True)
    assert CeAudit.objects.get(stage="USER_INPUT").payload_json["text"] == "hours"


def test_a_failed_turn_keeps_no_more(caller: Caller) -> None:
    caller.say("fees " + CARD)
    caller.say("nothing that fits " + CARD)

    assert CARD not in str(list(CeConversationHistory.objects.values_list()))
    assert CARD not in str(list(CeAudit.objects.values_list()))
