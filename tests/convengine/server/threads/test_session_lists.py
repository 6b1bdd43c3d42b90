"""Reading sessions: bounded lists, newest first, by keyset."""

import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from config_admin.models import CeResponse
from convengine.engine.errors import RequestInvalid
from convengine.server.database.sql import database_time
from convengine.server.sessions.models import CeConversation, CeConversationHistory, CeSessionUnit
from convengine.server.threads import session_lists
from convengine.server.turns.dead_turns import recover_expired_lease
from tests.convengine.server.threads.sessions import session
from tests.convengine.server.turns.test_take_turn import hold_lease
from tests.threads import Participant, row_of, setting

pytestmark = [pytest.mark.django_db, pytest.mark.dialects, pytest.mark.usefixtures("changeable_turns")]
HERE = {"workspace_id": "default"}


def test_pages_follow_one_another_also_where_times_are_the_same() -> None:
    at = database_time()
    rows = [session(now=at, created_at=at - timedelta(seconds=n // 3)) for n in range(8)]
    session(workspace_id="other")
    seen, cursor = list[Any](), None
    for _ in range(4):
        page, cursor = session_lists.list_sessions(HERE, cursor, 3)
        seen += [row.pk for row in page]
        if cursor is None:
            break

    assert len(seen) == 8
    assert set(seen) == {row.pk for row in rows}
    times = [CeConversation.objects.get(pk=key).created_at for key in seen]
    assert times == sorted(times, reverse=True)


def test_a_page_that_is_just_full_is_the_last() -> None:
    for _ in range(3):
        session()

    assert session_lists.list_sessions(HERE, None, 3)[1] is None
    assert session_lists.list_sessions(HERE, None, 2)[1] is not None


def test_a_page_is_one_statement_and_filters() -> None:
    session(lifecycle="ABORTED")
    wanted = session(remote_jid="+1555")

    with CaptureQueriesContext(connection) as captured:
        page, _ = session_lists.list_sessions({**HERE, "channel": "whatsapp", "remote_jid": "+1555"}, None, 50)

    assert ([row.pk for row in page], len(captured)) == ([wanted.pk], 1)


def test_a_cursor_that_no_page_gave_is_refused() -> None:
    elsewhere = session(workspace_id="other")
    session()

    with pytest.raises(RequestInvalid) as refused:
        session_lists.list_sessions(HERE, "seven", 50)
    assert "take one from `next`" in str(refused.value.fields)
    for cursor in (uuid.uuid4(), elsewhere.pk):
        with pytest.raises(RequestInvalid, match="not valid"):
            session_lists.list_sessions(HERE, str(cursor), 50)


def test_a_page_behind_a_session_that_was_removed_is_not_the_end_of_the_list() -> None:
    for _ in range(3):
        session()
    _, cursor = session_lists.list_sessions(HERE, None, 1)
    CeConversation.objects.get(pk=cursor).delete()

    with pytest.raises(RequestInvalid) as refused:
        session_lists.list_sessions(HERE, cursor, 1)

    assert "begin without a cursor" in str(refused.value.fields)


def test_messages_are_the_newest_fifty_as_words(guest: Participant) -> None:
    row = row_of(guest.say("hours"))
    later = [
        CeConversationHistory(conversation=row, turn_no=n, user_input=f"q{n}", config_version=1) for n in range(2, 53)
    ]
    CeConversationHistory.objects.bulk_create(later)

    messages = session_lists.list_messages(row)

    assert [turn.turn_no for turn in messages] == list(range(52, 2, -1))
    assert (messages[0].user_input, messages[0].assistant_output, messages[0].source) == ("q52", None, "TURN")
    CeConversationHistory.objects.filter(turn_no__gt=1).delete()
    (first,) = session_lists.list_messages(row)
    assert (first.user_input, first.status) == ("hours", "OK")
    assert first.assistant_output == {"type": "TEXT", "value": "Nine to five."}


def test_units_come_oldest_first_also_the_newest_of_them() -> None:
    row = session()
    for n in range(4):
        CeSessionUnit.objects.create(
            conversation=row, kind="FACT", topic=f"t{n}", claim="c", source_turn=n, content_hash=str(n)
        )

    assert [unit.topic for unit in session_lists.list_units(row)] == ["t0", "t1", "t2", "t3"]
    assert [unit.topic for unit in session_lists.list_units(row, 2)] == ["t2", "t3"]


def test_the_log_tells_what_came_and_what_became_of_it(guest: Participant) -> None:
    row = row_of(guest.say("hours", input_params={"tier": "gold", "lang": "en"}))

    (turn,) = session_lists.explain_turns(row)

    assert turn.request == {
        "message": "hours", "input_param_names": ["lang", "tier"], "channel": "whatsapp", "resolved": "first_message",
        "source": "TURN",
    }  # fmt: skip
    assert (turn.turn.status, turn.error, turn.response_preview) == ("OK", None, "Nine to five.")
    assert turn.turn.assistant_output == {"type": "TEXT", "value": "Nine to five."}
    assert "ResponseResolutionStep" in [node["id"] for node in turn.trace["nodes"]]


def test_the_log_tells_what_was_preferred_in_the_turn_that_it_came_with(guest: Participant) -> None:
    guest.say("hours")
    guest.say("hours", preferences={"planner": "built-in"})
    row = row_of(guest.say("hours", preferences={"preferredToolSet": "built-in"}))

    preferences = [turn.preferences for turn in session_lists.explain_turns(row)]

    assert preferences == [{"planner": "built-in", "tool_set": "built-in"}, {"planner": "built-in"}, {}]


def test_the_preview_has_two_hundred_characters(guest: Participant) -> None:
    row = row_of(guest.say("hours"))
    CeConversationHistory.objects.update(assistant_output={"type": "TEXT", "value": "x" * 500})

    (turn,) = session_lists.explain_turns(row)

    assert len(turn.response_preview) == 200
    assert len((turn.turn.assistant_output or {})["value"]) == 500


def test_failed_and_dead_turns_are_in_it(guest: Participant) -> None:
    answer = guest.say("hours")
    CeResponse.objects.filter(intent_code="HOURS").update(response_type="UNHEARD_OF")
    guest.say("hours?")
    hold_lease(answer["session_id"], -1, turn_no=3)
    assert recover_expired_lease(answer["session_id"])

    dead, failed, _ = session_lists.explain_turns(row_of(answer))

    assert (failed.turn.status, (failed.error or {})["code"]) == ("FAILED", "NO_RESPONSE_CONFIGURED")
    assert ((dead.error or {})["code"], dead.request["message"]) == ("LEASE_EXPIRED", "lost words")
    assert (dead.request["input_param_names"], dead.preferences) == (["tier"], {})


@pytest.mark.parametrize(
    ("limit", "most", "turn_nos"), [("2", None, [3, 2]), ("2", 1, [3]), ("0", 50, []), ("50", 2, [3, 2])]
)
def test_as_many_turns_are_told_as_the_setting_keeps(
    guest: Participant, limit: str, most: int | None, turn_nos: list[int]
) -> None:
    setting("EXPLAINABILITY_TURNS", limit)
    for text in ("hours", "hours?", "and on sunday?"):
        row = row_of(guest.say(text))

    assert [turn.turn.turn_no for turn in session_lists.explain_turns(row, most)] == turn_nos


def test_links_lead_to_what_was_asked_for() -> None:
    assert session_lists.list_links("/s/1", ["messages", "units"]) == {"units": "/s/1/units"}
