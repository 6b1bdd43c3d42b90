"""Sessions 4, row by row: which session a message belongs to, with its limits to the moment."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.conf import settings as configured
from django.db import IntegrityError, transaction

from config_admin.models import CeResponse
from convengine.engine.llm.scripted import ScriptedModel, ScriptLine
from convengine.server import wiring
from convengine.server.memory.compaction import compact_ended_sessions
from convengine.server.sessions.models import CeConversation, CeMemory
from convengine.server.threads import find_session
from convengine.server.threads.idle_sessions import close_idle_sessions
from tests.convengine.server.threads.rows.stories import CLOSE, Story
from tests.threads import Participant, at, row_of, setting

ON_POSTGRES = configured.DATABASES["default"]["ENGINE"].endswith("postgresql")
#: The shortest time that the database's clock knows.
A_MOMENT = timedelta(microseconds=1) if ON_POSTGRES else timedelta(milliseconds=1)
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
MINUTES_30, HOURS_24, DAYS_7 = timedelta(minutes=30), timedelta(hours=24), timedelta(days=7)
PHRASES = (
    "new task", "start over", "reset", "forget that", "new project", "clear history", "start fresh",
    "new conversation", "/reset", "/restart", "restart",
)  # fmt: skip


def get_decision(answer: Any) -> tuple[str, str]:
    return answer["decision"], answer["reason"]


def get_end(story: Story) -> tuple[str, str]:
    row = story.row
    return row.lifecycle, row.lifecycle_detail["reason"]


def compact(story: Story) -> tuple[str, str]:
    """What the job keeps of the session that was left."""
    for _ in compact_ended_sessions():
        pass
    detail = CeMemory.objects.get(conversation_id=story.session_id, memory_type="COMPACTED").detail_json
    return detail["outcome"], detail["reason"]


@pytest.mark.parametrize("phrase", [*PHRASES, "Start OVER!", " reset. "], ids="S4-1-explicit_reset-{}".format)
def test_a_reset_phrase_opens_a_session_and_aborts_the_current_one(story: Story, phrase: str) -> None:
    answer = story.play("a trip", phrase)

    assert get_decision(answer) == ("new", "explicit_reset")
    assert answer["session"]["previous_session_id"] == story.session_id
    assert get_end(story) == ("ABORTED", "explicit_reset")
    # The UNKNOWN / UNKNOWN row answers, and nobody looked for an intent.
    assert answer["reply"] == "Sorry?"
    assert story.guest.stages(answer, "INTENT_RESOLVE_NO_CHANGE")[0]["reason"] == "reset_only"
    assert story.guest.stages(answer, "CONVERSATION_RESET")[0]["reason"] == "USER_TEXT_COMMAND"


def test_S4_1_explicit_reset_without_that_row_says_the_fresh_start_text(story: Story) -> None:
    CeResponse.objects.filter(intent_code="UNKNOWN").delete()

    assert story.play("a trip", "start fresh")["reply"] == "Starting fresh. How can I help you?"


def test_S4_1_not_a_phrase_inside_a_longer_text(story: Story) -> None:
    assert get_decision(story.play("a trip", "could you reset my trip?")) == ("continue", "within_timeout")


def test_S4_1_wins_over_every_row_below(story: Story, settings: Any) -> None:
    at(settings, NOON)
    story.play("a trip", CLOSE)
    at(settings, NOON + 2 * DAYS_7)

    assert get_decision(story.play("start over")) == ("new", "explicit_reset")
    assert get_decision(Participant(story.guest.secret).say("start over")) == ("new", "explicit_reset")


def test_S4_3_no_session(guest: Participant) -> None:
    guest.say("a trip")
    CeConversation.objects.all().delete()

    assert get_decision(guest.say("a trip")) == ("new", "no_session")


@pytest.mark.parametrize("ending", ["looks good", "never mind", CLOSE])
def test_S4_4_session_closed(story: Story, ending: str) -> None:
    answer = story.play("a trip", ending, "hours")

    assert get_decision(answer) == ("new", "session_closed")
    assert answer["session"]["previous_session_id"] == story.session_id


#: How long the session was idle, and what the next message meets, by the channel's resume mode.
LIMITS = [
    ("S4-5-stale-at-7-days", "new_session", DAYS_7, ("new", "timeout")),
    ("S4-5-stale-after-7-days", "new_session", DAYS_7 + A_MOMENT, ("new", "stale")),
    ("S4-5-stale-at-7-days-offered", "offer_resume", DAYS_7, ("continue", "resume_offered")),
    ("S4-5-stale-after-7-days-not-offered", "offer_resume", DAYS_7 + A_MOMENT, ("new", "stale")),
    ("S4-6-timeout-at-30-minutes", "new_session", MINUTES_30, ("continue", "within_timeout")),
    ("S4-6-timeout-after-30-minutes", "new_session", MINUTES_30 + A_MOMENT, ("new", "timeout")),
    ("S4-6-timeout-not-where-resuming-counts", "offer_resume", MINUTES_30 + A_MOMENT, ("continue", "within_timeout")),
    ("S4-7-resume_offered-at-24-hours", "offer_resume", HOURS_24, ("continue", "within_timeout")),
    ("S4-7-resume_offered-after-24-hours", "offer_resume", HOURS_24 + A_MOMENT, ("continue", "resume_offered")),
    ("S4-7-resume_offered-not-where-a-session-is-opened", "new_session", HOURS_24 + A_MOMENT, ("new", "timeout")),
    ("S4-9-within_timeout-at-once", "new_session", timedelta(0), ("continue", "within_timeout")),
    ("S4-9-within_timeout-offered", "offer_resume", timedelta(0), ("continue", "within_timeout")),
]  # fmt: skip


@pytest.mark.parametrize(("mode", "idle", "then"), [row[1:] for row in LIMITS], ids=[row[0] for row in LIMITS])
def test_a_limit_counts_as_within_it_and_a_moment_later_does_not(
    story: Story, settings: Any, mode: str, idle: timedelta, then: tuple[str, str]
) -> None:
    setting("RESUME_MODE", mode)
    at(settings, NOON)
    story.play("a visa")
    at(settings, NOON + idle)

    answer = story.play("Japan")

    assert get_decision(answer) == then
    assert (answer["session_id"] == story.session_id) is (then[0] == "continue")
    if then[0] == "new":
        assert answer["session"]["previous_session_id"] == story.session_id
        assert get_end(story) == compact(story) == ("ABORTED", then[1])


@pytest.mark.parametrize(
    ("key", "value", "mode", "idle", "reason"),
    [
        pytest.param("TIMEOUT_MINUTES", "5", "new_session", 5 * 60, "timeout", id="S4-6-TIMEOUT_MINUTES"),
        pytest.param("IDLE_TIMEOUT_HOURS", "2", "offer_resume", 7200, "resume_offered", id="S4-7-IDLE_TIMEOUT_HOURS"),
        pytest.param("STALE_TIMEOUT_DAYS", "1", "offer_resume", 86400, "stale", id="S4-5-STALE_TIMEOUT_DAYS"),
    ],
)  # fmt: skip
def test_limits_are_rows_of_the_configuration(
    story: Story, settings: Any, key: str, value: str, mode: str, idle: int, reason: str
) -> None:
    setting("RESUME_MODE", mode)
    setting(key, value)
    at(settings, NOON)
    story.play("a visa")
    at(settings, NOON + timedelta(seconds=idle))
    within = story.guest.resolve("Japan")
    at(settings, NOON + timedelta(seconds=idle) + A_MOMENT)
    beyond = story.guest.resolve("Japan")

    assert within["reason"] != reason
    assert beyond["reason"] == reason


def test_S4_6_a_channel_has_limits_of_its_own(guest: Participant, settings: Any) -> None:
    setting("RESUME_MODE.whatsapp", "offer_resume")
    other = Participant(guest.secret, channel="sms")
    at(settings, NOON)
    guest.say("a visa")
    other.say("a visa")
    at(settings, NOON + MINUTES_30 + A_MOMENT)

    assert get_decision(guest.say("Japan")) == ("continue", "within_timeout")
    assert get_decision(other.say("Japan")) == ("new", "timeout")


def test_S4_5_stale_answers_so_also_when_the_job_was_there_before(story: Story, settings: Any) -> None:
    setting("STALE_TEXT", "That was long ago.")
    at(settings, NOON)
    story.play("a trip")
    at(settings, NOON + DAYS_7 + A_MOMENT)
    assert sum(counts["closed"] for counts in close_idle_sessions()) == 1

    answers = [story.guest.say("hours") for _ in range(2)]

    assert [answer["reason"] for answer in answers] == ["session_closed", "within_timeout"]
    assert [answer["reply"] for answer in answers] == ["That was long ago.\n\nNine to five.", "Nine to five."]


@pytest.mark.parametrize(
    ("enabled", "reply", "then"),
    [
        pytest.param(True, '{"otherTopic": true, "confidence": 0.8}', "topic_drift", id="S4-8-topic_drift-at-0.80"),
        pytest.param(True, '{"otherTopic": true, "confidence": 0.79}', "within_timeout", id="S4-8-not-below-0.80"),
        pytest.param(True, '{"otherTopic": false, "confidence": 1}', "within_timeout", id="S4-8-not-the-same-topic"),
        pytest.param(True, "I would say so.", "within_timeout", id="S4-8-not-what-is-no-answer"),
        pytest.param(False, '{"otherTopic": true, "confidence": 1}', "within_timeout", id="S4-8-not-where-it-is-off"),
    ],
)
def test_a_model_that_is_sure_of_another_topic_opens_a_session(
    story: Story, enabled: bool, reply: str, then: str
) -> None:
    setting("ENABLE_DRIFT_CLASSIFIER", str(enabled).lower())
    story.play("a visa")

    with wiring.replace_outside_world(wiring.OutsideWorld(model=ScriptedModel([ScriptLine(("DRIFT",), reply)] * 2))):
        answer = story.play("my roof leaks")

    assert answer["reason"] == then
    assert (answer["session_id"] != story.session_id) is (then == "topic_drift")
    if then == "topic_drift":
        assert get_end(story) == compact(story) == ("ABORTED", "topic_drift")


def test_S4_the_end_of_the_old_session_and_the_begin_of_the_new_one_are_one_transaction(
    story: Story, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    at(settings, NOON)
    story.play("a visa")
    at(settings, NOON + MINUTES_30 + A_MOMENT)

    def fails(*_: Any) -> str:
        raise RuntimeError("out of memory")

    monkeypatch.setattr(find_session, "_insert_session", fails)
    assert story.play("Japan")["errorCode"] == "INTERNAL_ERROR"

    assert (story.row.lifecycle, CeConversation.objects.count()) == ("AWAITING_USER", 1)
    assert story.events[-1]["to"] == "AWAITING_USER"
    monkeypatch.undo()
    assert get_decision(story.play("Japan")) == ("new", "timeout")


def test_S4_one_open_session_of_a_thread_is_all_that_the_database_takes(guest: Participant) -> None:
    row = row_of(guest.say("a visa"))
    copy = CeConversation(workspace_id=row.workspace_id, channel=row.channel, remote_jid=row.remote_jid)

    with pytest.raises(IntegrityError), transaction.atomic():
        copy.save()
    copy.lifecycle = "COMPLETE"
    copy.save()
