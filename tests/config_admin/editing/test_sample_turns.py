import uuid

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from config_admin.editing.sample_turns import list_recent_turns, load_stored_turn, sample_typed_message
from convengine.engine.prompts.variables import build_variables
from convengine.server.sessions.models import CeConversationHistory
from tests.api import Caller
from tests.builders import make_snapshot
from tests.worlds import create_help_desk

pytestmark = pytest.mark.django_db


@pytest.fixture
def caller() -> Caller:
    create_help_desk()
    return Caller()


def newest() -> CeConversationHistory:
    return CeConversationHistory.objects.order_by("-history_id")[0]


def test_a_typed_text_stands_where_the_row_applies() -> None:
    moment = sample_typed_message("hi", make_snapshot(), "LOAN", "ANY")

    assert (moment.session.user_text, moment.session.intent, moment.session.state) == ("hi", "LOAN", "UNKNOWN")
    assert build_variables(moment.session, moment.turn)["user_input"] == "hi"


def test_a_stored_turn_is_told_as_it_stood_when_a_phase_began(caller: Caller) -> None:
    caller.say("hours")
    moment = load_stored_turn(str(newest().turn_id), phase="PRE_RESPONSE_RESOLUTION")

    assert (moment.session.user_text, moment.session.intent, moment.note) == ("hours", "HOURS", "")
    assert moment.is_stored


def test_and_as_it_stood_when_a_step_began(caller: Caller) -> None:
    caller.say("hours")

    assert load_stored_turn(str(newest().turn_id), step="IntentResolutionStep").session.intent == "UNKNOWN"
    assert load_stored_turn(str(newest().turn_id), step="MemoryStep").session.intent == "HOURS"


def test_a_phase_that_the_turn_did_not_have_is_told_with_the_facts_at_the_end(caller: Caller) -> None:
    caller.say("hours")
    moment = load_stored_turn(str(newest().turn_id), phase="POST_AGENT_MCP")

    assert moment.session.intent == "HOURS"
    assert moment.note.startswith("The rules of phase POST_AGENT_MCP were not evaluated in this turn")


def test_trying_writes_nothing(caller: Caller) -> None:
    caller.say("hours")
    with CaptureQueriesContext(connection) as captured:
        load_stored_turn(str(newest().turn_id))

    assert [query["sql"] for query in captured if not query["sql"].startswith("SELECT")] == []


def test_a_turn_that_is_gone_says_so() -> None:
    with pytest.raises(ValueError, match="no longer stored"):
        load_stored_turn(str(uuid.uuid4()))


def test_the_newest_turns_are_offered_those_of_the_intent_first_in_one_query(caller: Caller) -> None:
    caller.say("hours")
    caller.say("fees")
    with CaptureQueriesContext(connection) as captured:
        offered = list_recent_turns("HOURS")

    assert len(captured) == 1
    assert offered[0].label.startswith("“hours” · HOURS / ")
