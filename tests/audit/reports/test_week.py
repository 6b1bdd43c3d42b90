"""The week for Home: what got worse by more than chance, since which release, and what to teach first."""

import uuid
from datetime import timedelta
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from audit.inbox.job import update_inbox
from audit.models import CeInboxGroup
from audit.record.days import choose_days
from audit.reports.counting import count_new_turns
from audit.reports.report import ReportSelection, build_report
from audit.reports.week import summarise_week
from convengine.engine.turn.turn import TurnRequest
from convengine.server.interfaces.turn_reports import RateVerdict
from convengine.server.sessions.models import CeConversation, CeConversationHistory
from convengine.server.turns.take_turn import take_turn
from tests.audit.reports.counts import blame_releases, count, count_turns
from tests.config_admin.test_cases.builders import make_test, run_tests
from tests.worlds import create_help_desk

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]


def test_a_rise_is_named_with_its_release(monkeypatch: pytest.MonkeyPatch) -> None:
    blame_releases(monkeypatch)
    for release, turns, missed, days in ((4, 300, 20, 9), (5, 200, 15, 3), (6, 100, 45, 1)):
        count_turns(turns, missed, days=days, release=release)
    week = summarise_week()
    assert (week.turns, week.previous_turns) == (300, 300)
    missed_rate = week.rates[0]
    assert (missed_rate.number, missed_rate.share, missed_rate.previous_share) == (60, 20.0, 6.7)
    assert missed_rate.is_worse
    assert missed_rate.since is not None
    assert missed_rate.since.last == 6
    assert not any(rate.is_worse for rate in week.rates[1:])


def test_the_release_that_began_it_is_named_though_later_ones_are_as_bad(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    blame_releases(monkeypatch)
    for release, turns, missed, days in ((3, 300, 18, 10), (4, 60, 9, 3), (5, 60, 10, 2), (6, 60, 9, 1)):
        count_turns(turns, missed, days=days, release=release)
    week = summarise_week()
    assert week.rates[0].since is not None
    assert (week.rates[0].since.last, week.rates[0].since.turns) == (4, 180)
    assert not any(effect.worse_rates for effect in week.effects[:2])


def test_a_release_that_moved_messages_is_named_though_later_ones_have_more_turns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    blame_releases(monkeypatch)
    for release, days, fees, rates in ((4, 9, 120, 80), (5, 3, 40, 120), (6, 1, 60, 180)):
        count_intents(release, days, FEES=fees, RATES=rates, HOURS=100)
    effects = {effect.last: effect for effect in summarise_week().effects}
    assert [tuple(shift) for shift in effects[5].shifts] == [
        ("FEES", 40.0, 16.7), ("RATES", 26.7, 50.0)
    ]  # fmt: skip
    assert not effects[6].shifts


def test_a_release_that_moved_messages_is_named_though_each_release_has_few_turns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    blame_releases(monkeypatch)
    for release in range(1, 11):
        fees, rates = (90, 60) if release < 6 else (60, 90)
        count_intents(release, 11 - release, FEES=fees, RATES=rates)
    assert [effect.last for effect in summarise_week().effects if effect.shifts] == [6]


def test_a_release_since_which_more_messages_are_understood_moved_none() -> None:
    count_intents(4, 9, UNKNOWN=90, FEES=60)
    count_intents(5, 2, UNKNOWN=10, FEES=140)
    (effect,) = summarise_week().effects
    assert not effect.shifts


def test_fewer_completed_forms_are_worse(monkeypatch: pytest.MonkeyPatch) -> None:
    blame_releases(monkeypatch)
    for release, days, completed in ((4, 9, 60), (5, 2, 30)):
        count_turns(300, 0, days=days, release=release)
        count("FORM_IS_COMPLETED", "1:", completed, days=days, release=release)
        count("FORM_IS_LEFT", "1:phone", 100 - completed, days=days, release=release)
    (rate,) = (rate for rate in summarise_week().rates if rate.label == "forms completed")
    assert (rate.is_worse, rate.is_high, rate.unit, rate.share) == (True, False, "forms", 30.0)
    assert rate.since
    assert rate.since.last == 5


def count_intents(release: int, days: int, **intents: int) -> None:
    """Turns by intent."""
    for intent, number in intents.items():
        count("TURN", "OK", number, days=days, release=release, intent=intent)


def test_a_rate_that_was_always_high_is_high() -> None:
    for days in (9, 3):
        count_turns(100, 27, days=days, release=4)
    rate = summarise_week().rates[0]
    assert (rate.is_worse, rate.is_high, rate.since) == (False, True, None)


def test_a_release_with_few_turns_is_judged_with_the_next_one(monkeypatch: pytest.MonkeyPatch) -> None:
    blame_releases(monkeypatch)
    for release, turns, missed, days in ((4, 300, 20, 9), (5, 3, 0, 3), (7, 2, 1, 3), (8, 100, 45, 1)):
        count_turns(turns, missed, days=days, release=release)
    (effect,) = summarise_week().effects
    assert (effect.first, effect.last, effect.turns, effect.turns_before) == (5, 8, 105, 300)
    assert [rate.verdict for rate in effect.rates] == [
        RateVerdict.WORSE, RateVerdict.TOO_FEW, RateVerdict.TOO_FEW, RateVerdict.SAME, RateVerdict.SAME
    ]  # fmt: skip


def test_few_turns_say_nothing() -> None:
    count_turns(300, 0, days=9, release=4)
    count_turns(29, 29, days=1, release=5)
    week = summarise_week()
    assert not week.rates[0].is_worse
    assert not week.rates[0].is_high
    assert [rate.verdict for rate in week.effects[0].rates] == [RateVerdict.TOO_FEW] * 5


def test_what_to_teach_first_is_what_came_most_this_week() -> None:
    now = timezone.now()
    for number, (messages, this_week) in enumerate(((90, 0), (20, 9), (12, 11), (3, 3)), 1):
        conversation = CeConversation.objects.create(
            intent_code="UNKNOWN", state_code="UNKNOWN", remote_jid=str(number)
        )
        turn = CeConversationHistory.objects.create(
            conversation=conversation, turn_no=1, config_version=1, user_input=f"message {number}"
        )
        CeInboxGroup.objects.create(
            fingerprint=str(number),
            leader=turn.pk,
            messages=messages,
            wordings=1,
            this_week=this_week,
            first_at=now,
            last_at=now,
        )
    week = summarise_week()
    assert [(group.text, group.this_week) for group in week.largest_groups] == [
        ("message 3", 11), ("message 2", 9), ("message 4", 3)
    ]  # fmt: skip
    assert (week.inbox_groups, week.inbox_messages) == (4, 125)


def test_answers_to_the_questions_of_a_flow_are_taught_last() -> None:
    now = timezone.now()
    for number, (intent, this_week) in enumerate((("LOAN", 9), ("UNKNOWN", 2)), 1):
        conversation = CeConversation.objects.create(intent_code=intent, state_code="S", remote_jid=str(number))
        turn = CeConversationHistory.objects.create(
            conversation=conversation, turn_no=1, config_version=1, user_input=f"said in {intent}", intent_code=intent
        )
        CeInboxGroup.objects.create(
            fingerprint=str(number),
            leader=turn.pk,
            messages=this_week,
            wordings=1,
            this_week=this_week,
            first_at=now,
            last_at=now,
        )
    assert [group.text for group in summarise_week().largest_groups] == ["said in UNKNOWN", "said in LOAN"]


def test_messages_after_which_users_were_asked_are_counted_with_a_link_to_them(client: Client) -> None:
    create_help_desk()
    client.force_login(User.objects.create_superuser("ada"))
    assert summarise_week().asked_messages == 0
    for text in ("hours and fees", "fees and hours"):
        take_turn(TurnRequest(str(CeConversation().conversation_id), text))
    list(update_inbox())
    week = summarise_week()
    assert (week.inbox_messages, week.asked_messages) == (0, 2)
    for name in ("admin:index", "admin:audit_ceaudit_week"):
        page = client.get(reverse(name)).content.decode()
        assert "After 2 messages of these days users were asked what they meant." in page
        assert f'href="{week.asked_url}"' in page
    assert [line.title for line in client.get(week.asked_url).context["lines"]] == ["fees and hours"]


def test_without_turns_the_week_is_empty() -> None:
    week = summarise_week()
    assert (week.turns, week.inbox_groups, week.rates[0].share, week.effects) == (0, 0, None, [])


def test_tries_tests_and_what_if_are_never_counted_and_real_turns_are(client: Client) -> None:
    create_help_desk()
    client.force_login(User.objects.create_superuser("ada"))
    take_turn(TurnRequest(str(uuid.uuid4()), "hours"))
    take_turn(TurnRequest(str(uuid.uuid4()), "who knows"))

    client.post(reverse("admin:audit_ceaudit_simulate"), {"try-line": ["hours", "nobody knows"], "try-send": "1"})
    make_test("Hours")
    make_test("Unknown", {"user": "what is that", "expect": {"intent": "FEES"}})
    assert run_tests().failed == 1
    call_command("what_if", "--configuration", "live", stdout=StringIO())
    for _ in count_new_turns(timedelta()):
        pass

    week = summarise_week()
    assert (week.turns, week.rates[0].number) == (2, 1)


def test_the_outcomes_add_up_to_the_conversations_that_began() -> None:
    count_turns(100, 0, days=1, release=1)
    for outcome, number in (("RESOLVED", 5), ("HANDED_OVER", 3), ("OPEN", 2)):
        count("OUTCOME", outcome, number, days=1, release=1)
    week = summarise_week()
    assert [(each.label, each.number, each.share) for each in week.outcomes] == [
        ("Resolved", 5, 50.0), ("Handed over", 3, 30.0), ("Handed over after failures", 0, 0.0),
        ("Given up", 0, 0.0), ("Ended not understood", 0, 0.0), ("Open", 2, 20.0),
    ]  # fmt: skip
    assert week.conversations == 10
    assert "outcome=RESOLVED" in week.outcomes[0].url


@pytest.mark.parametrize(
    ("ends", "text"),
    [
        ({"FORM_IS_COMPLETED": 2, "FORM_IS_LEFT": 8}, "8 of the 10 users who began it did not finish it"),
        ({"FORM_IS_COMPLETED": 1, "FORM_IS_OPEN": 4, "FORM_IS_GAVE_UP": 5}, "9 of the 10 users"),
        ({"FORM_IS_COMPLETED": 5, "FORM_IS_LEFT": 5}, ""),
        ({"FORM_IS_LEFT": 9}, ""),
        ({"FORM_IS_COMPLETED": 10}, ""),
    ],
)
def test_home_names_a_form_that_loses_most_of_its_users(client: Client, ends: dict[str, int], text: str) -> None:
    client.force_login(User.objects.create_superuser("ada"))
    count_turns(10, 0, days=1, release=1)
    for kind, number in ends.items():
        count(kind, "7:" if kind == "FORM_IS_COMPLETED" else "7:phone", number, days=1, release=1)
    form = summarise_week().losing_form
    assert text in (form.text if form else "")
    assert bool(form) == bool(text)
    assert ("most at “phone”" in client.get(reverse("admin:index")).content.decode()) == bool(text)


def test_home_counts_the_days_that_reports_count() -> None:
    count("TURN", "OK", 3, days=0, release=1)
    since, until = choose_days(7, timezone.now())
    week = summarise_week()
    assert (week.since, week.until, week.turns) == (
        since,
        until,
        build_report(ReportSelection(since, until)).totals.turns,
    )


def test_home_names_the_turns_with_a_failed_task(client: Client) -> None:
    client.force_login(User.objects.create_superuser("ada"))
    count("TURN", "OK", 900, days=0, release=1)
    count("TASK_FAILED", "", 1, days=0, release=1)
    page = client.get(reverse("admin:index")).content.decode()
    assert "1 turn had a failed task or tool in the last seven days." in page
    assert "milestone=TASK_FAILED" in page
