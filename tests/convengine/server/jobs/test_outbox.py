"""Rows whose processes die: claimed ever more rarely, given up in the end, and no other row suffers for it."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from queue import SimpleQueue
from typing import Any

import pytest

from convengine.engine.tools.fault import ToolFault
from convengine.server.channels.models import CeChannelMessage
from convengine.server.jobs.outbox import MOST_DEATHS, Outbox, OutboxRow, OutboxStatus, send_again
from convengine.server.queued import answer
from convengine.server.queued.models import CeQueuedMessage
from convengine.server.webhooks.models import CeWebhook, CeWebhookDelivery
from tests.convengine.server.jobs.outbox_users import USERS, User, create_channel_message, create_queued
from tests.threads import at
from tests.worlds import create_help_desk

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]
NOW = datetime(2026, 3, 10, 9, 30, tzinfo=UTC)
LATER = timedelta(hours=2)
DIED = "The server process ended during 3 attempts, so there is no further one. The server log may say why."
ALL_USERS = pytest.mark.parametrize("user", USERS, ids=[user.name for user in USERS])


@pytest.fixture(autouse=True)
def _world(settings: Any) -> None:
    create_help_desk()
    at(settings, NOW)


@pytest.fixture(autouse=True)
def sent(monkeypatch: pytest.MonkeyPatch) -> list[OutboxRow]:
    """What was sent: every attempt works."""
    rows: list[OutboxRow] = []

    async def send(row: OutboxRow) -> None:
        rows.append(row)

    for user in USERS:
        monkeypatch.setattr(user.outbox, "send", send)
        monkeypatch.setattr(user.outbox, "wake", lambda: None)
    return rows


@contextmanager
def claim(outbox: Outbox[Any]) -> Iterator[list[Any]]:
    """What one more process, or thread, claims and then attempts."""
    results: Any = SimpleQueue()
    outbox._senders[results] = {}
    try:
        yield list(outbox._claim_due(outbox._senders[results], []))
    finally:
        del outbox._senders[results]


def claim_and_die(outbox: Outbox[Any]) -> list[Any]:
    """What a process attempts that dies then."""
    with claim(outbox) as rows:
        return rows


def work(outbox: Outbox[Any]) -> None:
    list(outbox.send_due())


def die_until_given_up(user: User, row: OutboxRow, settings: Any) -> Iterator[timedelta]:
    """How long each claim lasts."""
    moment = NOW
    for _ in range(MOST_DEATHS):
        assert [each.pk for each in claim_and_die(user.outbox)] == [row.pk]
        assert claim_and_die(user.outbox) == []
        row.refresh_from_db()
        yield row.next_attempt_at - moment
        moment = row.next_attempt_at
        at(settings, moment)


@ALL_USERS
def test_a_row_whose_processes_die_is_given_up_with_its_reason(
    user: User, settings: Any, sent: list[OutboxRow]
) -> None:
    row = user.create("deadly", "ada", NOW)

    first, *others = die_until_given_up(user, row, settings)
    later = user.create("harmless", "ada", NOW)
    work(user.outbox)

    assert others == [2 * first, 4 * first]
    row.refresh_from_db()
    assert (row.status, row.error, row.attempts, row.deaths) == (OutboxStatus.FAILED, DIED, MOST_DEATHS, MOST_DEATHS)
    # What waited for it goes on.
    later.refresh_from_db()
    assert (later.status, later.attempts, later.deaths) == (OutboxStatus.SENT, 1, 0)
    assert [each.pk for each in sent] == [later.pk]


@ALL_USERS
def test_what_was_given_up_after_deaths_is_tried_from_the_beginning_when_somebody_asks(
    user: User, settings: Any, sent: list[OutboxRow]
) -> None:
    row = user.create("deadly", "ada", NOW)
    list(die_until_given_up(user, row, settings))
    work(user.outbox)

    assert send_again(type(row)._default_manager.all()) == 1
    work(user.outbox)

    row.refresh_from_db()
    assert (row.status, row.attempts, row.deaths, len(sent)) == (OutboxStatus.SENT, 1, 0, 1)


@ALL_USERS
def test_a_row_ends_few_processes_and_takes_no_other_with_it(user: User, settings: Any, sent: list[OutboxRow]) -> None:
    deadly = user.create("deadly", "ada", NOW)
    others = [user.create("harmless", f"person {number}", NOW) for number in range(20)]
    model, deaths = type(deadly)._default_manager, 0
    for number in range(100):
        at(settings, NOW + number * LATER)
        rows = claim_and_die(user.outbox)
        if any(row.pk == deadly.pk and row.deaths < MOST_DEATHS for row in rows):
            deaths += 1
            continue
        for row in rows:
            user.outbox._end_attempt(row, ToolFault("PROCESS_DIED", DIED) if row.pk == deadly.pk else None)

    assert deaths == MOST_DEATHS
    assert model.get(pk=deadly.pk).status == OutboxStatus.FAILED
    kept = model.filter(pk__in=[row.pk for row in others])
    assert set(kept.values_list("status", flat=True)) == {OutboxStatus.SENT.value}


@ALL_USERS
def test_a_row_has_its_last_chance_alone_in_its_process(user: User) -> None:
    row = user.create("suspicious", "ada", NOW)
    rows = type(row)._default_manager.filter(pk=row.pk)
    rows.update(deaths=MOST_DEATHS - 1)
    with claim(user.outbox) as alone:
        fresh = user.create("harmless", "ben", NOW)
        assert ([each.pk for each in alone], claim_and_die(user.outbox)) == ([row.pk], [])
    with claim(user.outbox) as others:
        rows.update(deaths=MOST_DEATHS - 1, next_attempt_at=NOW)
        assert ([each.pk for each in others], claim_and_die(user.outbox)) == ([fresh.pk], [])
    assert [each.pk for each in claim_and_die(user.outbox)] == [row.pk]


@ALL_USERS
def test_an_attempt_that_fails_is_no_death(user: User, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(row: OutboxRow) -> None:
        raise ToolFault("HTTP_TIMEOUT", "it hangs")

    monkeypatch.setattr(user.outbox, "send", fail)
    row = user.create("harmless", "ada", NOW)
    for number in range(MOST_DEATHS + 1):
        at(settings, NOW + number * LATER)
        work(user.outbox)

    row.refresh_from_db()
    assert (row.status, row.attempts, row.deaths) == (OutboxStatus.PENDING, MOST_DEATHS + 1, 0)


def test_the_claim_of_a_row_that_killed_before_is_renewed_for_as_long_as_it_lasts(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (user, *_) = USERS
    row = user.create("slow", "ada", NOW)
    type(row)._default_manager.update(deaths=1)
    running: dict[Any, Any] = {}
    (claimed,) = user.outbox._claim_due(running, [])
    at(settings, NOW + timedelta(seconds=20))
    user.outbox._renew_claims(running.values(), float("-inf"))

    row.refresh_from_db()
    assert (claimed.pk, row.next_attempt_at) == (row.pk, NOW + timedelta(seconds=20 + 30))


def list_events(name: str) -> list[Any]:
    return [json.loads(row.body)["data"] for row in CeWebhookDelivery.objects.filter(event=name)]


def test_whoever_waits_for_what_was_given_up_is_told(settings: Any) -> None:
    events = ["turn.answered", "message.undelivered"]
    CeWebhook.objects.create(name="desk", url="https://desk.example.com", secret="s" * 32, events=events)
    queued, _, channels, _ = USERS
    for user in (queued, channels):
        at(settings, NOW)
        row = user.create("deadly", "ada", NOW)
        list(die_until_given_up(user, row, settings))
        work(user.outbox)

    message = CeQueuedMessage.objects.get()
    assert (message.answer["errorCode"], message.answer["message"]) == ("MESSAGE_ABANDONED", DIED)
    assert message.sent_at
    [answered], [undelivered] = map(list_events, events)
    assert (answered["messageId"], answered["success"]) == (str(message.message_id), False)
    assert (undelivered["text"], undelivered["error"]) == ("deadly", DIED)


def test_a_delivery_whose_processes_die_does_not_turn_its_webhook_off(settings: Any) -> None:
    webhooks = USERS[1]
    row = webhooks.create("deadly", "ada", NOW)
    list(die_until_given_up(webhooks, row, settings))
    work(webhooks.outbox)

    assert CeWebhook.objects.get().is_enabled


def test_a_delivery_keeps_its_proof_whatever_becomes_of_it(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(row: OutboxRow) -> None:
        raise ToolFault("REFUSED", "The receiver is bro\0ken.")

    webhooks = USERS[1]
    webhooks.create("harmless", "ada", NOW)
    with monkeypatch.context() as broken:
        broken.setattr(webhooks.outbox, "send", fail)
        work(webhooks.outbox)
    assert CeWebhookDelivery.objects.get().error == "The receiver is bro\ufffdken."
    assert CeWebhookDelivery.objects.get().is_genuine()
    at(settings, NOW + LATER)
    work(webhooks.outbox)
    assert CeWebhookDelivery.objects.get(status=OutboxStatus.SENT).is_genuine()


def raise_value_error(value: Any) -> Any:
    raise ValueError("the configuration is gone")


def spoil_number(row: Any) -> None:
    row.describe_change = lambda values: {**values, "attempts": 10**30}


def spoil_date(row: Any) -> None:
    row.describe_change = lambda values: {**values, "sent_at": "the 31st of June"}


def spoil_row(row: Any) -> None:
    row.describe_change = raise_value_error


@pytest.mark.parametrize("spoil", [spoil_number, spoil_date, spoil_row])
def test_a_row_whose_result_cannot_be_stored_is_given_up_alone(
    spoil: Callable[[Any], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    channels = USERS[2]
    spoilt, other = (create_channel_message(name, name, NOW) for name in ("spoilt", "other"))

    async def send(row: Any) -> None:
        if row.pk == spoilt.pk:
            spoil(row)

    monkeypatch.setattr(channels.outbox, "send", send)
    work(channels.outbox)

    for row in (spoilt, other):
        row.refresh_from_db()
    assert (spoilt.status, other.status) == (OutboxStatus.FAILED, OutboxStatus.SENT)
    assert spoilt.error.startswith("It was sent. The result cannot be stored: ")


def test_a_failure_that_cannot_be_told_ends_its_row_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    channels = USERS[2]
    untold, other = (create_channel_message(name, name, NOW) for name in ("untold", "other"))

    async def send(row: Any) -> None:
        if row.pk == untold.pk:
            raise ToolFault("REFUSED", "The user is gone.")

    monkeypatch.setattr(channels.outbox, "send", send)
    monkeypatch.setattr(channels.outbox, "on_given_up", lambda row, error: raise_value_error(row))
    monkeypatch.setattr(CeChannelMessage, "most_attempts", 1)
    work(channels.outbox)

    for row in (untold, other):
        row.refresh_from_db()
    assert (untold.status, other.status) == (OutboxStatus.FAILED, OutboxStatus.SENT)
    assert untold.error.startswith("The user is gone. The result cannot be stored: ValueError")


@pytest.mark.django_db(transaction=True)
def test_an_answered_message_keeps_the_count_of_its_earlier_deaths(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer.outbox, "send", answer._answer)
    row = create_queued("hours", "ada", NOW)
    type(row).objects.update(deaths=1)
    work(answer.outbox)

    row.refresh_from_db()
    assert (row.status, row.deaths) == (OutboxStatus.SENT, 1)
