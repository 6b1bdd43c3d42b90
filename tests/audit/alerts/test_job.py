"""Alerts fire, repeat, end and keep silent; a job that is killed or runs twice changes nothing."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.db import connections

from audit.alerts import messages
from audit.alerts.current_alerts import SilenceRefused, end_silence, find_rule, silence_rule
from audit.alerts.job import check_alerts, end_alert_of
from audit.models import CeAlert, CeAlertMessage, CeAlertRule, CeTurnCount
from tests.audit.alerts.counts import NOW, count, count_until, make_rule

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]
HOUR = timedelta(hours=1)


@pytest.fixture
def rule() -> CeAlertRule:
    return make_rule(addresses=["ann@example.com"], repeat_hours=6)


@pytest.fixture
def run_at(set_clock: Callable[[datetime], None]) -> Callable[[datetime], dict[str, int]]:
    def run(moment: datetime) -> dict[str, int]:
        set_clock(moment)
        count_until(moment)
        sums: dict[str, int] = {}
        for counts in (*check_alerts(), *messages.outbox.send_due()):
            for name, number in counts.items():
                sums[name] = sums.get(name, 0) + number
        return sums

    return run


def subjects() -> list[str]:
    return [message.subject for message in mail.outbox]


def test_an_alert_fires_repeats_and_ends(rule: CeAlertRule, run_at: Any) -> None:
    count(0, 100, 20)
    assert run_at(NOW) == {"fired": 1, "messages": 1, "sent": 1}
    alert = CeAlert.objects.get()
    assert (alert.status, alert.value, alert.turns, alert.started_at) == ("FIRING", Decimal(20), 100, NOW)
    assert subjects() == ["[Alert] Not understood: 20 % now"]
    assert mail.outbox[0].to == ["ann@example.com"]

    count(0, 100, 40, intent_code="FEES")
    assert run_at(NOW + timedelta(minutes=30)) == {}
    alert.refresh_from_db()
    assert (alert.first_value, alert.worst_value, alert.turns) == (Decimal(20), Decimal(30), 200)

    count(-6, 100, 20)
    assert run_at(NOW + 6 * HOUR) == {"messages": 1, "sent": 1}
    assert subjects()[1] == "[Alert] Not understood: 20 % still now"

    count(-8, 100, 1)
    assert run_at(NOW + 8 * HOUR) == {"ended": 1, "sent": 1}
    alert.refresh_from_db()
    assert (alert.status, alert.end, alert.ended_at) == ("ENDED", "NORMAL", NOW + 8 * HOUR)
    assert subjects()[2] == "[OK] Not understood: Back to normal"
    assert run_at(NOW + 8 * HOUR) == {}


def test_an_alert_ends_without_turns_and_fires_anew(rule: CeAlertRule, run_at: Any) -> None:
    count(0, 100, 20)
    run_at(NOW)
    run_at(NOW + 3 * HOUR)
    assert CeAlert.objects.get().end == "FEW_TURNS"
    count(-5, 100, 20)
    run_at(NOW + 5 * HOUR)
    assert list(CeAlert.objects.order_by("pk").values_list("status", flat=True)) == ["ENDED", "FIRING"]


def test_running_twice_is_the_same_as_once(rule: CeAlertRule, run_at: Any) -> None:
    count(0, 100, 20)
    for _ in range(3):
        run_at(NOW)
    assert (CeAlert.objects.count(), CeAlertMessage.objects.count(), len(mail.outbox)) == (1, 1, 1)


def test_nothing_happens_before_the_first_count_and_without_new_counts(
    rule: CeAlertRule, set_clock: Callable[[datetime], None]
) -> None:
    count(0, 100, 20)
    assert list(check_alerts()) == []
    count_until()
    # The job that counts stands still, so what it counted is all that is known.
    set_clock(NOW + 5 * HOUR)
    list(check_alerts())
    assert CeAlert.objects.get().status == "FIRING"


def test_a_rule_that_is_off_ends_its_alert(rule: CeAlertRule, run_at: Any) -> None:
    count(0, 100, 20)
    run_at(NOW)
    CeAlertRule.objects.update(is_enabled=False)
    assert run_at(NOW)["ended"] == 1
    assert CeAlert.objects.get().end == "RULE"
    assert run_at(NOW) == {}


def test_a_deleted_rule_leaves_its_alerts(rule: CeAlertRule, run_at: Any) -> None:
    count(0, 100, 20)
    run_at(NOW)
    rule.delete()
    run_at(NOW)
    alert = CeAlert.objects.get()
    assert (alert.rule, alert.title, alert.status, alert.end) == (None, "Not understood", "ENDED", "RULE")


def test_a_silence_of_the_rule_holds_messages_back(rule: CeAlertRule, run_at: Any) -> None:
    silence_rule(rule, NOW + HOUR, "deployment", "ann")
    count(0, 100, 20)
    count(-1, 100, 20)
    assert run_at(NOW) == {"fired": 1}
    assert run_at(NOW + timedelta(minutes=59)) == {}
    # It still fires, so people are told now.
    assert run_at(NOW + HOUR) == {"messages": 1, "sent": 1}
    assert subjects() == ["[Alert] Not understood: 20 % now"]


def test_a_silence_may_end_early(rule: CeAlertRule, run_at: Any) -> None:
    silence_rule(rule, NOW + 9 * HOUR, "deployment", "ann")
    count(0, 100, 20)
    run_at(NOW)
    end_silence(rule)
    assert run_at(NOW)["sent"] == 1


def test_a_silence_that_makes_no_sense_is_refused(rule: CeAlertRule, run_at: Any) -> None:
    with pytest.raises(SilenceRefused, match="in the future"):
        silence_rule(rule, NOW, "", "ann")
    count(0, 100, 20)
    run_at(NOW)
    end_alert_of(rule)
    with pytest.raises(SilenceRefused, match="has ended"):
        find_rule(CeAlert.objects.get())


def test_users_get_mail_while_they_are_active(rule: CeAlertRule, run_at: Any) -> None:
    for name, is_active, address in (("bo", True, "bo@else.org"), ("cy", False, "cy@else.org"), ("di", True, "")):
        rule.users.add(User.objects.create(username=name, email=address, is_active=is_active))
    rule.addresses = ["ann@example.com", "eve@not-allowed.org"]
    rule.save()
    count(0, 100, 20)
    assert run_at(NOW)["sent"] == 2
    assert sorted(message.to[0] for message in mail.outbox) == ["ann@example.com", "bo@else.org"]


def test_a_kill_while_the_alert_is_made_leaves_nothing(
    rule: CeAlertRule, run_at: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    count(0, 100, 20)
    with monkeypatch.context() as patch:
        patch.setattr(CeAlertMessage.objects, "bulk_create", _die)
        with pytest.raises(_Killed):
            run_at(NOW)
    assert not CeAlert.objects.exists()
    assert run_at(NOW) == {"fired": 1, "messages": 1, "sent": 1}


def test_a_kill_while_mail_is_sent_sends_it_again_with_the_same_id(
    rule: CeAlertRule, run_at: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    count(0, 100, 20)
    with monkeypatch.context() as patch:
        patch.setattr("convengine.server.jobs.outbox._store_result", _die)
        with pytest.raises(_Killed):
            run_at(NOW)
    assert len(mail.outbox) == 1
    assert run_at(NOW) == {}
    assert run_at(NOW + timedelta(minutes=1)) == {"sent": 1}
    first, second = (message.extra_headers["Message-ID"] for message in mail.outbox)
    assert first == second == f"<{CeAlertMessage.objects.get().pk}@example.com>"


def test_an_unknown_measure_does_not_stop_the_others(rule: CeAlertRule, run_at: Any) -> None:
    make_rule(title="old", measure="gone")
    count(0, 100, 20)
    assert run_at(NOW)["fired"] == 1


def test_a_rebuilt_count_is_what_counts(rule: CeAlertRule, run_at: Any) -> None:
    count(0, 100, 20)
    run_at(NOW)
    CeTurnCount.objects.all().delete()
    count(0, 100, 2)
    assert run_at(NOW)["ended"] == 1


class _Killed(BaseException):
    pass


def _die(*args: Any, **kwargs: Any) -> None:
    raise _Killed


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_four_machines_at_once_are_the_same_as_one() -> None:
    make_rule(addresses=["ann@example.com", "bo@example.com"])
    count(0, 100, 20)
    count_until()

    def work() -> int:
        try:
            return sum(counts.get("sent", 0) for counts in (*check_alerts(), *messages.outbox.send_due()))
        finally:
            connections.close_all()

    with ThreadPoolExecutor(4) as pool:
        sent = sum(future.result() for future in [pool.submit(work) for _ in range(4)])
    assert (sent, len(mail.outbox), CeAlert.objects.count(), CeAlertMessage.objects.count()) == (2, 2, 1, 2)
