"""Deliveries are sent in order, again after failures, until they are given up; and only where they may go."""

import re
import time
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from convengine.engine.tools.fault import ToolFault
from convengine.server.executors.http_client import circuits
from convengine.server.jobs import outbox, worker
from convengine.server.jobs.outbox import send_again
from convengine.server.webhooks import send
from convengine.server.webhooks.models import CeWebhook, CeWebhookDelivery
from convengine.server.webhooks.send import (
    build_headers,
    check_address,
    create_secret,
    read_oldest_waiting,
    remove_old_deliveries,
    send_deliveries,
)
from tests.convengine.server.webhooks.conftest import MakeWebhook
from tests.fakes.http_server import Reply, Server, serving
from tests.fakes.strangers import at_most
from tests.pace import allow
from tests.test_docs import ROOT
from tests.threads import at
from tests.worlds import set_audit_setting

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]
NOW = datetime(2026, 3, 10, 9, 30, tzinfo=UTC)
SECOND = timedelta(seconds=1)
(READER,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs/webhooks.md").read_text(), re.DOTALL)
BODY = '{"type":"conversation.ended","data":{"reason":"schön"}}'


@pytest.fixture(autouse=True)
def _close_circuits() -> None:
    circuits._all.clear()


def make_delivery(webhook: CeWebhook, conversation: str = "c1", body: str = "{}", **values: Any) -> CeWebhookDelivery:
    return CeWebhookDelivery.objects.create(
        **{
            "webhook": webhook,
            "event_id": uuid.uuid4(),
            "event": "conversation.ended",
            "conversation_id": conversation,
            "body": body,
            "next_attempt_at": NOW,
            "created_at": NOW,
            **values,
        }
    )


def run(settings: Any, moment: datetime = NOW) -> None:
    at(settings, moment)
    list(send_deliveries())


def list_bodies(receiver: Server) -> list[str]:
    return [asked.body.decode() for asked in receiver.asked]


def test_a_delivery_is_posted_once_and_signed_with_both_secrets(
    receiver: Server, make_webhook: MakeWebhook, settings: Any
) -> None:
    hook = make_webhook(f"{receiver.address}/in?from=bot", old_secret=create_secret())
    row = make_delivery(hook, body='{"type":"x"}')
    run(settings)
    run(settings)

    (asked,) = receiver.asked
    assert (asked.method, asked.path, asked.headers["content-type"]) == ("POST", "/in?from=bot", "application/json")
    assert asked.headers["webhook-id"] == str(row.event_id)
    for secret in (hook.secret, hook.old_secret):
        assert Webhook(secret).verify(asked.body, dict(asked.headers)) == {"type": "x"}
    row.refresh_from_db()
    assert (row.status, row.attempts, row.error, row.sent_at) == ("SENT", 1, "", NOW)


def test_a_later_event_of_a_conversation_waits_for_the_earlier_one(
    receiver: Server, make_webhook: MakeWebhook, settings: Any
) -> None:
    receiver.replies = [Reply(503, b"busy"), Reply()]
    hook = make_webhook(receiver.address)
    for number in (1, 2, 3):
        make_delivery(hook, body=str(number))
    run(settings)
    assert list_bodies(receiver) == ["1"]
    make_delivery(hook, "c2", body="other")
    run(settings)
    assert list_bodies(receiver) == ["1", "other"]

    run(settings, NOW + 5 * SECOND)
    assert list_bodies(receiver) == ["1", "other", "1", "2", "3"]


def test_another_webhook_does_not_wait(receiver: Server, make_webhook: MakeWebhook, settings: Any) -> None:
    make_delivery(make_webhook("https://127.0.0.1:1/"), body="lost")
    make_delivery(make_webhook(receiver.address), body="came")
    run(settings)
    assert list_bodies(receiver) == ["came"]


def test_pauses_grow_up_to_an_hour_until_a_day_is_over(
    receiver: Server, make_webhook: MakeWebhook, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(send.outbox, "send", fail)
    row = make_delivery(make_webhook(receiver.address))
    later = make_delivery(row.webhook, body="later")
    moment, pauses = NOW, []
    while row.status == "PENDING":
        run(settings, moment)
        row.refresh_from_db()
        pauses.append((row.next_attempt_at - moment).total_seconds())
        moment = max(row.next_attempt_at, moment)

    assert pauses[:4] == [5, 10, 20, 40]
    assert pauses[11:33] == [3600] * 22
    assert (row.status, row.attempts, row.error) == ("FAILED", outbox.MOST_ATTEMPTS, "it hangs")
    assert timedelta(hours=23) < moment - NOW < timedelta(hours=26)
    # What waited for it goes on.
    later.refresh_from_db()
    assert (later.status, later.attempts) == ("PENDING", 1)


async def fail(*args: Any) -> None:
    raise ToolFault("HTTP_TIMEOUT", "it hangs")


def test_what_was_given_up_is_sent_again(receiver: Server, make_webhook: MakeWebhook, settings: Any) -> None:
    row = make_delivery(make_webhook(receiver.address), status="FAILED", attempts=34, error="it hangs")
    run(settings)
    assert receiver.asked == []

    assert send_again(CeWebhookDelivery.objects.all()) == 1
    assert send_again(CeWebhookDelivery.objects.all()) == 0
    run(settings)
    row.refresh_from_db()
    assert (row.status, row.attempts, len(receiver.asked)) == ("SENT", 1, 1)
    assert receiver.asked[0].headers["webhook-id"] == str(row.event_id)


def test_a_claim_of_a_process_that_died_expires(receiver: Server, make_webhook: MakeWebhook, settings: Any) -> None:
    at(settings, NOW)
    row = make_delivery(make_webhook(receiver.address))
    assert outbox._claim(row, NOW, timedelta(minutes=1))
    run(settings, NOW + 59 * SECOND)
    assert receiver.asked == []
    run(settings, NOW + 61 * SECOND)
    assert len(receiver.asked) == 1


def test_two_senders_do_not_claim_the_same_row(make_webhook: MakeWebhook, settings: Any) -> None:
    at(settings, NOW)
    row = make_delivery(make_webhook())
    assert outbox._claim(row, NOW, timedelta(minutes=1))
    assert not outbox._claim(row, NOW, timedelta(minutes=1))


def test_what_waits_for_a_webhook_that_is_off_is_sent_when_it_is_on(
    receiver: Server, make_webhook: MakeWebhook, settings: Any
) -> None:
    hook = make_webhook(receiver.address, is_enabled=False)
    make_delivery(hook)
    run(settings)
    assert (receiver.asked, read_oldest_waiting()) == ([], None)
    CeWebhook.objects.update(is_enabled=True)
    assert read_oldest_waiting() == NOW
    run(settings)
    assert len(receiver.asked) == 1


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (Reply(500, b"x" * 5000), f"127.0.0.1:PORT answered 500: {'x' * 200}"),
        (Reply(404, b"gone"), "127.0.0.1:PORT answered 404: gone"),
        (
            Reply(302, headers={"Location": "http://169.254.169.254/"}),
            "127.0.0.1:PORT answers with a redirect (302) to http://169.254.169.254/; redirects are not followed.",
        ),
    ],
)
def test_the_last_error_is_said_in_words(
    receiver: Server, make_webhook: MakeWebhook, settings: Any, reply: Reply, error: str
) -> None:
    receiver.replies = [reply]
    row = make_delivery(make_webhook(receiver.address))
    run(settings)
    row.refresh_from_db()
    assert (row.status, row.error) == ("PENDING", error.replace("PORT", str(receiver.port)))
    assert len(receiver.asked) == 1


@pytest.mark.parametrize(
    "url",
    ["https://127.0.0.1/", "https://localhost/x", "https://10.1.2.3/", "https://[::1]/", "https://169.254.169.254/"],
)
def test_private_addresses_are_refused_with_the_remedy(url: str, make_webhook: MakeWebhook, settings: Any) -> None:
    with pytest.raises(ToolFault, match=r"is not public.*CE_WEBHOOK_PRIVATE_HOSTS"):
        check_address(url)
    row = make_delivery(make_webhook(url))
    run(settings)
    row.refresh_from_db()
    assert "is not public" in row.error


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://93.184.216.34/", "does not begin with https://"),
        ("shop.example.com/hook", "is not an http or https address"),
        ("https://ann:secret@93.184.216.34/", "without a user name"),
        ("https://[", "is not an http or https address"),
        ("ftp://93.184.216.34/", "is not an http or https address"),
    ],
)
def test_other_addresses_are_refused_in_words(url: str, words: str) -> None:
    with pytest.raises(ToolFault, match=words):
        check_address(url)


def test_the_deployment_allows_private_hosts_without_tls(settings: Any) -> None:
    settings.CONVENGINE = {**settings.CONVENGINE, "WEBHOOK_PRIVATE_HOSTS": ["127.0.0.1:8000"]}
    check_address("http://127.0.0.1:8000/in")
    with pytest.raises(ToolFault, match="CE_WEBHOOK_PRIVATE_HOSTS"):
        check_address("http://127.0.0.1:9000/in")


def test_old_deliveries_are_removed_with_old_turns(make_webhook: MakeWebhook, settings: Any) -> None:
    at(settings, NOW + timedelta(days=31))
    hook = make_webhook(events=["conversation.ended"])
    for status in ("SENT", "FAILED", "PENDING"):
        make_delivery(hook, status=status)
    make_delivery(hook, created_at=NOW + timedelta(days=2))
    assert list(remove_old_deliveries()) == []
    set_audit_setting("RETENTION_DAYS", 30)
    assert list(remove_old_deliveries()) == [{"deliveries": 3}]
    assert CeWebhookDelivery.objects.count() == 1


@pytest.mark.parametrize(("with_jobs", "count"), [(False, 0), (True, 1)])
def test_a_commit_wakes_the_sender_where_jobs_run(
    with_jobs: bool, count: int, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    work: list[Callable[[], None]] = []

    def queue(job: Callable[[], None]) -> bool:
        work.append(job)
        return True

    monkeypatch.setattr(send.outbox._background, "submit", queue)
    settings.CONVENGINE = {**settings.CONVENGINE, "JOBS_IN_PROCESS": with_jobs}
    send.wake_sender()
    send.wake_sender()
    assert len(work) == count
    for each in work:
        each()
    send.wake_sender()
    assert len(work) == 2 * count
    send.outbox._is_woken.clear()


def test_a_worker_sends_itself_what_its_work_leaves(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    monkeypatch.setattr(outbox, "hand_over", lambda name: done.append("handed over") or True)
    monkeypatch.setattr(send.outbox, "wake_here", lambda: done.append("sent here"))
    settings.CONVENGINE = {**settings.CONVENGINE, "BROKER_URL": "redis://127.0.0.1:1"}

    send.wake_sender()
    outbox._handing.finish()
    worker.note_worker()
    try:
        send.wake_sender()
        outbox._handing.finish()
    finally:
        outbox.is_worker.clear()

    assert done == ["handed over", "sent here"]


@pytest.mark.parametrize("broker", ["", "redis://127.0.0.1:1"])
def test_a_sender_that_could_not_be_woken_is_woken_by_the_next_commit(
    broker: str, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused: list[Callable[[], None]] = []

    def refuse(job: Callable[[], None]) -> bool:
        refused.append(job)
        return False

    for background in (send.outbox._background, outbox._handing):
        monkeypatch.setattr(background, "submit", refuse)
    settings.CONVENGINE = {**settings.CONVENGINE, "JOBS_IN_PROCESS": True, "BROKER_URL": broker}

    send.wake_sender()
    send.wake_sender()

    assert len(refused) == 2


def test_a_commit_while_a_receiver_is_slow_is_sent_at_once(
    receiver: Server, make_webhook: MakeWebhook, settings: Any
) -> None:
    receiver.replies = [Reply(drip=0.5, body=b"slowly")]
    at(settings, NOW)
    slow = make_delivery(make_webhook(receiver.address))
    with serving(Reply()) as good:
        sending = send.outbox.send_due()
        next(sending)
        make_delivery(make_webhook(good.address))
        next(sending)
        slow.refresh_from_db()
        assert (len(good.asked), slow.status) == (1, "PENDING")
        list(sending)
    slow.refresh_from_db()
    assert slow.status == "SENT"


def test_a_receiver_that_failed_too_often_costs_no_attempts_until_it_is_tried_again(
    receiver: Server, make_webhook: MakeWebhook, settings: Any
) -> None:
    receiver.replies = [Reply(500)]
    hook = make_webhook(receiver.address)
    for number in range(40):
        make_delivery(hook, f"c{number}")
    run(settings)
    # Those that were under way when the tenth failed.
    untouched = CeWebhookDelivery.objects.filter(attempts=0).count()
    assert 40 - 13 <= untouched <= 40 - 10

    receiver.replies = [Reply()]
    circuits.of(f"webhook {hook.pk}")._open_until = 0
    run(settings)
    assert CeWebhookDelivery.objects.filter(status="SENT", attempts=1).count() == untouched


def test_a_receiver_gets_few_at_once_and_others_do_not_wait(
    receiver: Server, make_webhook: MakeWebhook, settings: Any
) -> None:
    receiver.replies = [Reply(drip=0.4, body=b"slow")]
    slow = make_webhook(receiver.address)
    for number in range(20):
        make_delivery(slow, f"slow {number}")
    with serving(Reply()) as good:
        hook = make_webhook(good.address)
        for number in range(20):
            make_delivery(hook, f"good {number}")
        at(settings, NOW)
        sending = send.outbox.send_due()
        next(sending)
        assert len(good.asked) == 20
        assert len(receiver.asked) <= 8
        list(sending)
    assert CeWebhookDelivery.objects.filter(status="SENT").count() == 40


def test_a_name_server_that_hangs_does_not_hold_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(send, "_LOOK_UP_SECONDS", 0.1)
    monkeypatch.setattr(send, "resolve_host", lambda *args: time.sleep(5))
    with at_most(allow(1)), pytest.raises(ToolFault, match=r"The name server does not answer for example\.com\."):
        check_address("https://example.com/")


@pytest.mark.parametrize(
    ("retry_after", "seconds"),
    [
        ("120", 120),
        ("0", 5),
        ("3", 5),
        ("999999", 86_400),
        ("Fri, 01 Jan 2100 00:00:00 GMT", 86_400),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 5),
        ("Fri, 31 Dec 9999 23:59:59 -2359", 86_400),
        ("Fri, 01 Jan 2100 00:00:00 +99999999999999", 5),
        (f"{10**400}", 86_400),
        ("soon", 5),
        ("-7", 5),
        ("", 5),
    ],
)
def test_a_receiver_says_when_it_may_be_tried_again(
    receiver: Server, make_webhook: MakeWebhook, settings: Any, retry_after: str, seconds: int
) -> None:
    receiver.replies = [Reply(503, headers={"Retry-After": retry_after}), Reply()]
    row = make_delivery(make_webhook(receiver.address))

    run(settings)

    row.refresh_from_db()
    assert (row.status, (row.next_attempt_at - NOW).total_seconds()) == ("PENDING", seconds)


@pytest.mark.parametrize("headers", [{}, {"Retry-After": "60"}, {"Location": "https://93.184.216.34/"}])
def test_a_receiver_that_is_gone_gets_no_more_events_until_somebody_turns_it_on(
    receiver: Server, make_webhook: MakeWebhook, settings: Any, headers: dict[str, str]
) -> None:
    receiver.replies = [Reply(410, headers=headers), Reply()]
    hook = make_webhook(receiver.address)
    gone, later = make_delivery(hook, body="1"), make_delivery(hook, body="2")

    run(settings)
    run(settings, NOW + timedelta(hours=2))

    for row in (gone, later, hook):
        row.refresh_from_db()
    assert list_bodies(receiver) == ["1"]
    assert (gone.status, later.status) == ("FAILED", "PENDING")
    assert (hook.is_enabled, hook.deactivated_at) == (False, NOW)

    hook.is_enabled = True
    hook.save()
    run(settings, NOW + timedelta(hours=3))

    assert list_bodies(receiver) == ["1", "2"]
    assert hook.deactivated_at is None


@pytest.mark.parametrize("status", [404, 400, 500, 401, 429])
def test_other_refusals_turn_no_webhook_off(
    receiver: Server, make_webhook: MakeWebhook, settings: Any, status: int
) -> None:
    receiver.replies = [Reply(status)]
    hook = make_webhook(receiver.address)
    row = make_delivery(hook)

    run(settings)

    hook.refresh_from_db()
    row.refresh_from_db()
    assert (hook.is_enabled, hook.deactivated_at, row.status) == (True, None, "PENDING")


def test_a_receiver_verifies_it_with_either_of_two_secrets() -> None:
    new, old = create_secret(), create_secret()
    headers = dict(build_headers("e1", int(time.time()), BODY, (new, old)))

    assert headers["webhook-signature"].count("v1,") == 2
    for secret in (new, old):
        assert Webhook(secret).verify(BODY, headers)["type"] == "conversation.ended"
    with pytest.raises(WebhookVerificationError):
        Webhook(create_secret()).verify(BODY, headers)


def test_without_a_second_secret_there_is_one_signature() -> None:
    headers = build_headers("e1", 1, BODY, (create_secret(), ""))
    assert len(headers["webhook-signature"].split(" ")) == 1


@pytest.mark.parametrize("change", ["body", "webhook-id", "webhook-timestamp"])
def test_what_was_changed_is_not_verified(change: str) -> None:
    secret = create_secret()
    headers = dict(build_headers("e1", int(time.time()), BODY, (secret,)))
    body = BODY.replace("ended", "began") if change == "body" else BODY
    if change != "body":
        headers[change] = f"{int(time.time()) - 1}" if change == "webhook-timestamp" else "e2"

    with pytest.raises(WebhookVerificationError):
        Webhook(secret).verify(body, headers)


def test_the_reader_of_the_manual_takes_what_is_signed_and_nothing_else() -> None:
    names: dict[str, Any] = {}
    exec(compile(READER, "docs/webhooks.md", "exec"), names)
    read_event, secret, body = names["read_event"], create_secret(), BODY.encode()
    now = int(time.time())

    headers = dict(build_headers("e1", now, BODY, (create_secret(), secret)))
    assert read_event(body, headers, secret)["data"] == {"reason": "schön"}
    for wrong in (
        (body + b" ", headers, secret),
        (body, headers, create_secret()),
        (body, dict(build_headers("e1", now - 400, BODY, (secret,))), secret),
    ):
        with pytest.raises(ValueError, match=r"wrong|too old"):
            read_event(*wrong)
