"""What every write has in common."""

import uuid
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from config_admin.models import CeResponse
from convengine.server.database.sql import database_time
from convengine.server.sessions.models import CeConversation, CeConversationHistory
from tests.api import Caller
from tests.worlds import create_help_desk

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]


def test_a_text_that_no_database_takes_is_stored_without_it() -> None:
    create_help_desk()
    CeResponse.objects.filter(intent_code="HOURS").update(exact_text='{{ inputParams.z }} {{ "\\ud83d" }}!')
    caller = Caller(conversation_id=str(uuid.uuid4()))

    first = caller.say("hours", inputParams={"z": "q\x00"})
    second = caller.say("hours")

    assert (first["payload"]["value"], first["success"], second["turnNo"]) == ("q\ufffd \ufffd!", True, 2)
    assert "\x00" not in CeConversation.objects.get().context_summary
    assert set(CeConversationHistory.objects.values_list("status", flat=True)) == {"OK"}


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Asia/Kathmandu", "UTC"])
def test_a_clock_that_stands_may_have_any_zone(settings: Any, zone: str) -> None:
    noon = datetime(2026, 7, 1, 12, tzinfo=ZoneInfo(zone))
    settings.CONVENGINE = {**settings.CONVENGINE, "CLOCK_AT": noon}

    assert database_time() == noon
