import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from audit.models import CeAudit
from audit.record.queries import list_messages_not_understood
from convengine.server.sessions.models import CeConversationHistory
from tests.api import Caller
from tests.worlds import create_help_desk

pytestmark = [pytest.mark.django_db, pytest.mark.dialects, pytest.mark.usefixtures("changeable_turns")]


def test_messages_that_no_intent_got_are_listed_once_newest_first() -> None:
    create_help_desk()
    caller = Caller()
    for text in ("purple elephants", "green elephants", "purple elephants"):
        assert caller.say(text)["intent"] == "UNKNOWN"

    assert list_messages_not_understood(10) == ["purple elephants", "green elephants"]
    assert list_messages_not_understood(1) == ["purple elephants"]


def test_messages_inside_of_an_intent_that_nobody_understood_are_listed_by_their_event() -> None:
    create_help_desk()
    caller = Caller()
    caller.say("elephants")
    CeConversationHistory.objects.update(intent_code="HELP")

    assert CeAudit.objects.filter(stage="NOT_UNDERSTOOD").exists()
    assert list_messages_not_understood(10) == ["elephants"]


def test_the_messages_cost_two_queries() -> None:
    with CaptureQueriesContext(connection) as captured:
        list_messages_not_understood(300)
    assert len(captured) <= 3
