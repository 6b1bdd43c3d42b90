"""The limits of sessions 4, to the second: exactly at a limit counts as within it."""

from datetime import UTC, datetime, timedelta

import pytest

from convengine.engine.threads.resolve import IdleLimits, LatestSession, ResolveReason, resolve_session
from tests.builders import make_config, make_snapshot

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
OFFERS = make_snapshot(make_config("Session/RESUME_MODE", "offer_resume"))
ENDS = make_snapshot()
A_MOMENT = timedelta(microseconds=1)


def reason(snapshot: object, idle: timedelta, message: str = "hello", channel: str = "whatsapp") -> str:
    latest = LatestSession("RUNNING", NOW - idle)
    return resolve_session(snapshot, channel, message, latest, NOW, known=True).value  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("snapshot", "limit", "beyond"),
    [
        (ENDS, timedelta(minutes=30), "timeout"),
        (OFFERS, timedelta(hours=24), "resume_offered"),
    ],
    ids=["30 minutes", "24 hours"],
)
def test_at_the_limit_the_session_goes_on_and_a_moment_later_it_does_not(
    snapshot: object, limit: timedelta, beyond: str
) -> None:
    assert reason(snapshot, limit) == "within_timeout"
    assert reason(snapshot, limit + A_MOMENT) == beyond


def test_at_seven_days_an_offer_is_made_and_a_moment_later_the_session_is_stale() -> None:
    assert reason(OFFERS, timedelta(days=7)) == "resume_offered"
    assert reason(OFFERS, timedelta(days=7) + A_MOMENT) == "stale"
    assert reason(ENDS, timedelta(days=7)) == "timeout"
    assert reason(ENDS, timedelta(days=7) + A_MOMENT) == "stale"


def test_a_reset_phrase_wins_over_everything() -> None:
    assert reason(ENDS, timedelta(days=8), "Start over!") == "explicit_reset"
    assert resolve_session(ENDS, "whatsapp", "reset", None, NOW, known=False) is ResolveReason.EXPLICIT_RESET


def test_a_thread_without_a_session_is_new_or_known() -> None:
    assert resolve_session(ENDS, "whatsapp", "hi", None, NOW, known=False) is ResolveReason.FIRST_MESSAGE
    assert resolve_session(ENDS, "whatsapp", None, None, NOW, known=True) is ResolveReason.NO_SESSION


@pytest.mark.parametrize("lifecycle", ["COMPLETE", "ABORTED"])
def test_a_closed_session_is_followed_by_a_new_one_however_fresh(lifecycle: str) -> None:
    assert (
        resolve_session(ENDS, "whatsapp", "hi", LatestSession(lifecycle, NOW), NOW, known=True)
        is ResolveReason.SESSION_CLOSED
    )


def test_a_session_ends_by_itself_at_the_limit_of_its_channel() -> None:
    snapshot = make_snapshot(
        make_config("Session/TIMEOUT_MINUTES.sms", "5"), make_config("Session/RESUME_MODE.whatsapp", "offer_resume")
    )

    assert IdleLimits.of(snapshot, "sms").end == timedelta(minutes=5)
    assert IdleLimits.of(snapshot, "web").end == timedelta(minutes=30)
    assert IdleLimits.of(snapshot, "whatsapp").end == timedelta(days=7)


def test_reasons_are_those_of_the_page_in_its_order() -> None:
    assert [reason.value for reason in ResolveReason] == [
        "explicit_reset", "first_message", "no_session", "session_closed", "stale", "timeout", "resume_offered",
        "topic_drift", "within_timeout",
    ]  # fmt: skip
