"""The twelve checks of sessions on WhatsApp: which session each message belongs to (docs/sessions.md)."""

from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F
from django.test import Client

from convengine.server.queued.models import CeQueuedMessage
from convengine.server.sessions.models import CeConversation
from tests.api import make_key
from tests.convengine.server.channels.conftest import World
from tests.live.configuration import configure

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.dialects]
USER = "15550001234"
SUMMARY = ("GOAL", "ENTITIES", "DECISIONS", "PENDING", "TURNS")


def write(world: World, text: str, user: str = USER) -> tuple[str, str]:
    """A message, and why it came into its session: `decision` and `reason`."""
    world.write(user, text)
    answer = CeQueuedMessage.objects.latest("pk").answer
    return answer["decision"], answer["reason"]


def find_session(user: str = USER) -> CeConversation:
    return CeConversation.objects.filter(remote_jid=user).latest("created_at")


def wait(**duration: float) -> None:
    """Let time pass since the last message of every session."""
    past = timedelta(**duration)
    for column in ("last_message_at", "created_at", "updated_at"):
        CeConversation.objects.filter(**{f"{column}__isnull": False}).update(**{column: F(column) - past})


@pytest.fixture
def calls() -> Any:
    secret = make_key(scopes=["sessions", "audit"])
    return Client(headers={"Authorization": f"Api-Key {secret}"})


def test_1_a_first_message_begins_a_session(whatsapp: World) -> None:
    assert write(whatsapp, "hours") == ("new", "first_message")

    row = find_session()
    assert (row.workspace_id, row.channel, row.remote_jid) == ("default", "shop", USER)


def test_2_the_next_message_belongs_to_it(whatsapp: World) -> None:
    write(whatsapp, "hours")

    assert write(whatsapp, "your hours please") == ("continue", "within_timeout")
    assert CeConversation.objects.count() == 1


def test_3_each_answer_counts_a_turn_and_writes_the_summary(whatsapp: World) -> None:
    for number, text in enumerate(("hours", "your hours please", "hours?"), start=1):
        write(whatsapp, text)
        row = find_session()
        names = [line.partition(":")[0] for line in row.context_summary.splitlines()]
        assert (row.turn_count, tuple(names)) == (number, SUMMARY)
        assert row.context_summary.endswith(f"TURNS: {number}")
        assert len(row.context_summary) <= 1000


@pytest.mark.parametrize(
    "text",
    [
        *("new task", "Start over", "RESET", "forget that", "new project", "clear history", "start fresh"),
        *("new conversation", "/reset"),
    ],
)
def test_4_a_reset_phrase_begins_another_session(text: str, whatsapp: World) -> None:
    write(whatsapp, "hours")
    before = find_session()

    assert write(whatsapp, text) == ("new", "explicit_reset")
    after = find_session()
    assert (after.pk != before.pk, after.previous_session_id) == (True, before.pk)


def test_5_the_reset_is_answered_and_not_routed(whatsapp: World) -> None:
    write(whatsapp, "hours")
    write(whatsapp, "start over")

    # The help desk's own answer for UNKNOWN takes the place of "Starting fresh."
    assert whatsapp.provider.list_texts(USER)[-1] == "Sorry?"
    assert find_session().intent_code == "UNKNOWN"


def test_6_a_closed_session_is_followed_by_another(whatsapp: World, calls: Client) -> None:
    write(whatsapp, "hours")
    assert calls.post(f"/api/v1/sessions/{find_session().pk}/close", content_type="application/json").status_code == 200

    assert write(whatsapp, "fees") == ("new", "session_closed")


def test_7_after_the_timeout_a_session_begins_where_the_channel_says_so(whatsapp: World) -> None:
    configure("Session/RESUME_MODE.shop", "new_session")
    write(whatsapp, "hours")
    wait(minutes=29)
    assert write(whatsapp, "hours") == ("continue", "within_timeout")
    wait(minutes=31)

    assert write(whatsapp, "fees") == ("new", "timeout")
    assert CeConversation.objects.get(pk=find_session().previous_session_id).lifecycle_detail["reason"] == "timeout"


def test_8_after_a_day_the_bot_offers_to_go_on(whatsapp: World) -> None:
    configure("Session/RESUME_MODE.shop", "offer_resume")
    write(whatsapp, "a party please")
    wait(hours=25)

    assert write(whatsapp, "hello") == ("continue", "resume_offered")
    assert "For which day?" in whatsapp.provider.list_texts(USER)[-1]


def test_9_after_days_the_old_session_is_stale(whatsapp: World) -> None:
    write(whatsapp, "hours")
    wait(days=8)

    assert write(whatsapp, "fees") == ("new", "stale")


def test_10_another_sender_has_a_session_of_its_own(whatsapp: World) -> None:
    write(whatsapp, "a party please")

    assert write(whatsapp, "fees", user="15559999") == ("new", "first_message")
    assert whatsapp.provider.list_texts("15559999") == ["No fees."]
    assert find_session().pk != find_session("15559999").pk


def test_11_the_sessions_can_be_read_with_their_messages(whatsapp: World, calls: Client) -> None:
    write(whatsapp, "hours")
    row = find_session()

    listed = calls.get(f"/api/v1/sessions?workspace_id=default&channel=shop&remote_jid={USER}").json()
    one = calls.get(f"/api/v1/sessions/{row.pk}?include=messages").json()["session"]
    assert [each["session_id"] for each in listed["sessions"]] == [str(row.pk)]
    assert (one["channel"], one["remote_jid"], one["turn_count"]) == ("shop", USER, 1)


def test_12_the_same_message_again_is_the_same_turn(whatsapp: World) -> None:
    for _ in range(3):
        whatsapp.write(USER, "hours", number=5)

    assert (find_session().turn_count, whatsapp.provider.list_texts(USER)) == (1, ["Nine to five."])
