"""The table of sessions 4, row by row: which session a message belongs to."""

import threading
from collections import Counter
from typing import Any

import pytest
from django.db import connection

from audit.models import CeAudit
from convengine.sessions.models import CeConversation, CeThread
from convengine.sessions.threads import Thread, find_or_make
from tests.convengine.sessions.test_turns import hold_lease
from tests.threads import Participant, row_of, setting, travel_desk

pytestmark = pytest.mark.django_db
HOUR, DAY = 3600.0, 86400.0


@pytest.fixture
def guest() -> Participant:
    travel_desk()
    return Participant()


def later(settings: Any, seconds: float) -> None:
    """Set the clock of the product forward."""
    settings.CONVENGINE = {**settings.CONVENGINE, "CLOCK_OFFSET_SECONDS": seconds}


def told(answer: Any) -> tuple[str, str]:
    return answer["decision"], answer["reason"]


@pytest.mark.parametrize(
    "phrase",
    ["new task", "Start over", "reset", "forget that", "new project", "CLEAR HISTORY", "start fresh", "/reset",
     "new conversation", "/restart", "restart", " reset. "],
)  # fmt: skip
def test_row_1_explicit_reset_opens_a_session_and_aborts_the_current_one(guest: Participant, phrase: str) -> None:
    first = guest.say("a trip")

    answer = guest.say(phrase)

    assert told(answer) == ("new", "explicit_reset")
    assert answer["session"]["previous_session_id"] == first["session_id"]
    old = row_of(first)
    assert (old.lifecycle, old.lifecycle_detail["reason"]) == ("ABORTED", "explicit_reset")
    assert guest.stages(answer, "CONVERSATION_RESET")[0]["reason"] == "USER_TEXT_COMMAND"


def test_row_1_a_phrase_inside_a_longer_text_is_no_wish_to_start_over(guest: Participant) -> None:
    first = guest.say("a trip")

    answer = guest.say("could you reset my trip?")

    assert told(answer) == ("continue", "within_timeout")
    assert answer["session_id"] == first["session_id"]


def test_row_1_the_answer_is_the_unknown_row_and_routing_is_skipped(guest: Participant) -> None:
    guest.say("a trip")

    answer = guest.say("start over")

    assert answer["reply"] == "Sorry?"
    assert guest.stages(answer, "INTENT_RESOLVE_NO_CHANGE")[0]["reason"] == "reset_only"


def test_row_1_without_that_row_the_answer_is_the_fresh_start_text(guest: Participant) -> None:
    from config_admin.models import CeResponse

    CeResponse.objects.filter(intent_code="UNKNOWN").delete()
    guest.say("a trip")

    assert guest.say("start fresh")["reply"] == "Starting fresh. How can I help you?"


def test_row_1_wins_over_an_unknown_thread(guest: Participant) -> None:
    assert told(guest.say("reset")) == ("new", "explicit_reset")


def test_row_2_first_message(guest: Participant) -> None:
    answer = guest.say("a trip")

    assert told(answer) == ("new", "first_message")
    assert answer["session"]["previous_session_id"] is None
    assert CeThread.objects.get().remote_jid == guest.remote_jid


def test_row_3_no_session_when_retention_removed_them(guest: Participant) -> None:
    guest.say("a trip")
    CeConversation.objects.all().delete()

    answer = guest.say("a trip")

    assert told(answer) == ("new", "no_session")


@pytest.mark.parametrize("lifecycle", ["COMPLETE", "ABORTED"])
def test_row_4_session_closed(guest: Participant, lifecycle: str) -> None:
    first = guest.say("a trip")
    CeConversation.objects.update(lifecycle=lifecycle)

    answer = guest.say("hours")

    assert told(answer) == ("new", "session_closed")
    assert answer["session"]["previous_session_id"] == first["session_id"]


def test_row_5_stale_after_seven_days(guest: Participant, settings: Any) -> None:
    setting("RESUME_MODE", "offer_resume")
    setting("STALE_TEXT", "That was long ago.")
    first = guest.say("a trip")
    later(settings, 7 * DAY + 60)

    answer = guest.say("hours")

    assert told(answer) == ("new", "stale")
    old = row_of(first)
    assert (old.lifecycle, old.lifecycle_detail["reason"]) == ("ABORTED", "stale")
    assert answer["reply"] == "That was long ago.\n\nNine to five."


def test_row_5_wins_over_row_6(guest: Participant, settings: Any) -> None:
    guest.say("a trip")
    later(settings, 7 * DAY + 60)

    assert told(guest.say("hours")) == ("new", "stale")


def test_row_6_timeout_after_thirty_minutes(guest: Participant, settings: Any) -> None:
    first = guest.say("a trip")
    later(settings, 31 * 60)

    answer = guest.say("hours")

    assert told(answer) == ("new", "timeout")
    old = row_of(first)
    assert (old.lifecycle, old.lifecycle_detail["reason"]) == ("ABORTED", "timeout")
    event = CeAudit.objects.get(conversation_id=first["session_id"], stage="SESSION_LIFECYCLE", turn_no=None)
    assert (event.payload_json["from"], event.payload_json["to"]) == ("PENDING_COMPLETE", "ABORTED")
    assert (event.payload_json["reason"], event.payload_json["turn_no"]) == ("timeout", 1)


def test_row_6_a_channel_has_limits_of_its_own(guest: Participant, settings: Any) -> None:
    setting("RESUME_MODE.whatsapp", "offer_resume")
    guest.say("a trip")
    other = Participant(guest.secret, channel="sms")
    other.say("a trip")
    later(settings, 2 * HOUR)

    assert told(guest.say("hours")) == ("continue", "within_timeout")
    assert told(other.say("hours")) == ("new", "timeout")


def test_row_7_resume_offered_after_a_day(guest: Participant, settings: Any) -> None:
    setting("RESUME_MODE", "offer_resume")
    first = guest.say("a trip")
    later(settings, DAY + 60)

    answer = guest.say("hours")

    assert told(answer) == ("continue", "resume_offered")
    assert answer["session_id"] == first["session_id"]


def test_row_9_within_timeout(guest: Participant, settings: Any) -> None:
    first = guest.say("a visa")
    later(settings, 29 * 60)

    answer = guest.say("Japan")

    assert told(answer) == ("continue", "within_timeout")
    assert answer["session_id"] == first["session_id"]
    assert answer["turn"]["turnNo"] == 2


def test_resolving_alone_finds_the_same_session_and_takes_no_turn(guest: Participant) -> None:
    first, second = guest.resolve(), guest.resolve()

    assert (told(first), told(second)) == (("new", "first_message"), ("continue", "within_timeout"))
    assert first["session_id"] == second["session_id"]
    assert second["session"]["turn_count"] == 0


def test_a_wish_to_start_over_waits_for_the_turn_that_runs(guest: Participant) -> None:
    first = guest.say("a trip")
    setting("LEASE_WAIT_SECONDS", "1")
    hold_lease(first["session_id"], 60)

    answer = guest.say("reset")

    assert (answer["ok"], answer["errorCode"]) == (False, "TURN_IN_PROGRESS")
    assert row_of(first).lifecycle == "PENDING_COMPLETE"


def test_a_wish_to_start_over_meets_a_dead_turn_and_leaves_its_record(guest: Participant) -> None:
    first = guest.say("a trip")
    hold_lease(first["session_id"], -1)

    answer = guest.say("reset")

    assert told(answer) == ("new", "explicit_reset")
    assert row_of(first).turns.get(turn_no=2).error_code == "LEASE_EXPIRED"


@pytest.mark.django_db(transaction=True)
def test_64_first_messages_at_once_make_one_session() -> None:
    travel_desk()
    thread, found = Thread("default", "whatsapp", "+1555"), []
    ready = threading.Barrier(16)

    def arrive() -> None:
        ready.wait()
        found.extend(find_or_make(thread, "hello") for _ in range(4))
        connection.close()

    threads = [threading.Thread(target=arrive) for _ in range(16)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()

    assert len({one.session_id for one in found}) == 1
    assert Counter(one.reason.value for one in found) == {"first_message": 1, "within_timeout": 63}
    assert CeConversation.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_of_many_that_start_over_at_once_each_session_but_the_last_is_aborted() -> None:
    travel_desk()
    thread, found = Thread("default", "whatsapp", "+1555"), [find_or_make(Thread("default", "whatsapp", "+1555"), "hi")]
    ready = threading.Barrier(8)

    def arrive() -> None:
        ready.wait()
        found.append(find_or_make(thread, "start over"))
        connection.close()

    threads = [threading.Thread(target=arrive) for _ in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()

    rows = CeConversation.objects.all()
    assert len({one.session_id for one in found}) == len(rows) == 9
    assert Counter(row.lifecycle for row in rows) == {"ABORTED": 8, "RUNNING": 1}
    assert len({row.previous_session_id for row in rows}) == 9


def test_the_next_session_recalls_what_the_last_one_left(guest: Participant) -> None:
    first = guest.say("a trip")
    CeConversation.objects.update(lifecycle="COMPLETE")

    answer = guest.say("hours")

    assert row_of(answer).context_json["memory"]["recalled_summary"] == row_of(first).context_summary
