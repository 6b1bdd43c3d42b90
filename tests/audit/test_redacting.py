"""What fits a pattern of AUDIT/REDACT_PATTERNS is written nowhere in the record."""

import uuid

import pytest
from django.contrib.auth.models import User
from django.test import Client

from audit.integrity import verify
from audit.models import CeAudit
from config_admin.models import CeConfig, CeResponse
from convengine.engine.redaction import Redaction
from convengine.engine.rules.patterns import compile_pattern
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import TurnRequest
from convengine.server.interfaces.configuration import configuration
from convengine.server.sessions.models import CeConversation, CeConversationHistory, CeIdempotency
from convengine.server.turns import acquire
from convengine.server.turns.acquire import LeaseClaim
from convengine.server.turns.stored_recording import read_recording
from tests.api import Caller
from tests.record import events
from tests.worlds import create_help_desk

pytestmark = pytest.mark.django_db
CARD = "4111 1111 1111 1111"


@pytest.fixture
def caller() -> Caller:
    create_help_desk()
    CeConfig.objects.create(
        config_type="AUDIT", config_key="REDACT_PATTERNS", config_value="\\b(?:\\d[ -]?){15}\\d\\b\nDE\\d{20}"
    )
    return Caller()


def test_what_fits_is_masked_in_events_record_recording_and_what_was_said_last(caller: Caller) -> None:
    caller.say(f"hours, my card is {CARD}", inputParams={"card": 4111111111111111, "note": f'"{CARD}"\n', "n": 12})
    caller.say("hours")
    record = CeConversationHistory.objects.get(turn_no=1)
    assert record.recording
    recorded = read_recording(record.recording)

    kept = str(list(CeAudit.objects.values_list())) + str(list(CeConversationHistory.objects.values_list()))
    kept += str(CeConversation.objects.values("last_user_text", "last_assistant_json", "context_summary"))
    assert CARD not in kept
    assert "4111111111111111" not in kept
    assert record.user_input == "hours, my card is ***"
    assert recorded.request.input_params == {"card": "***", "note": '"***"\n', "n": 12}
    assert (record.replayable, CeConversationHistory.objects.get(turn_no=2).status) == (False, "OK")
    assert verify.verify_conversation(uuid.UUID(caller.conversation_id)).intact


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


def test_what_is_asked_is_masked_and_where_the_session_stands_is_not(caller: Caller) -> None:
    rules = Redaction(patterns=(compile_pattern(r"\d{8,}"),))
    asked = {"question": "Is it 41112222?", "asked_at": "20260101000000", "options": [{"label": "41112222"}]}
    detail = {
        **asked,
        "resume": {"lifecycle": "AWAITING_USER", "detail": asked, "said": "41112222"},
        "turn_no": 41112222,
    }

    kept = rules.session(Session("c", 1, lifecycle_detail=detail, context={"card": "41112222"}))

    masked = {**asked, "question": "Is it ***?", "options": [{"label": "***"}]}
    resume = {"lifecycle": "AWAITING_USER", "detail": masked, "said": "***"}
    assert kept.lifecycle_detail == {**masked, "resume": resume, "turn_no": 41112222}
    assert kept.context == {"card": "41112222"}


def test_params_and_context_stay_for_the_next_turn_and_the_answer_to_a_repeated_call_is_the_same(
    caller: Caller, client: Client
) -> None:
    headers = {"Idempotency-Key": "k1"}
    first = caller.say("hours", headers, inputParams={"card": CARD, "password": "hunter2"})
    again = caller.say("hours", headers, inputParams={"card": CARD, "password": "hunter2"})
    caller.say("fees")

    row = CeConversation.objects.get()
    assert again == first
    assert row.input_params_json["card"] == CARD
    client.force_login(User.objects.create_superuser("ada"))
    page = client.get(f"/admin/ce_sessions/ceconversation/{row.pk}/change/").content.decode()
    assert CARD not in page
    assert "hunter2" not in page
    assert "***" in page


def test_stored_answers_are_shown_masked(caller: Caller, client: Client) -> None:
    caller.say("hours", {"Idempotency-Key": "k1"})
    CeIdempotency.objects.update(
        answer={"payload": {"value": f"Your card is {CARD}."}, "context": {"token": "secret-token"}}
    )
    client.force_login(User.objects.create_superuser("ada"))

    page = client.get(f"/admin/ce_sessions/ceidempotency/{CeIdempotency.objects.get().pk}/change/").content.decode()

    assert "Your card is ***." in page
    assert "secret-token" not in page


def test_a_message_that_interrupts_is_stored_masked(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str | None] = []
    monkeypatch.setattr(acquire, "interrupt_running_turn", lambda *values: told.append(values[2]))

    configuration().current()
    for text in (f"my card is {CARD}", None):
        acquire._interrupt_other_turn(LeaseClaim("t", TurnRequest(caller.conversation_id, text)))

    assert told == ["my card is ***", None]


def test_what_changed_is_masked_in_the_timing_record_too_and_its_numbers_are_not(caller: Caller) -> None:
    CeConfig.objects.create(config_type="AUDIT", config_key="INCLUDE_STAGES", config_value="PIPELINE_TIMING")
    CeResponse.objects.filter(intent_code="HOURS").update(exact_text=f"Nine to five, {CARD}.")
    caller.say("hours")

    told = CeAudit.objects.get(stage="PIPELINE_TIMING").payload_json
    assert CARD not in str(told)
    assert "response=Nine to five, ***." in str(told["_meta"]["changed"])


def test_the_numbers_of_the_timing_record_stay_whatever_fits_a_pattern(caller: Caller) -> None:
    CeConfig.objects.filter(config_key="REDACT_PATTERNS").update(config_value="\\d+\nStep")
    CeConfig.objects.create(config_type="AUDIT", config_key="REDACT_KEYS", config_value="stepList")
    caller.say("hours")

    told = events()
    assert [event.seq for event in told] == list(range(1, len(told) + 1))
    assert CeAudit.objects.count() == len(told)
    assert verify.verify_conversation(uuid.UUID(caller.conversation_id)).intact
