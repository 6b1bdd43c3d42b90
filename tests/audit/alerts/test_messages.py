"""Mail and webhooks about alerts: what they say, and what becomes of those that fail."""

import hashlib
import hmac
import json
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from audit.alerts.current_alerts import silence_rule
from audit.alerts.job import check_alerts
from audit.alerts.messages import JOB, outbox
from audit.models import CeAlert, CeAlertMessage
from convengine.server.deployment.folders import find_shipped
from convengine.server.jobs.outbox import FIRST_PAUSE
from tests.audit.alerts.counts import NOW, count, count_until, make_rule
from tests.fakes.http_server import Reply, Server, serving
from tests.fakes.smtp_server import Mailbox, serve_mail

pytestmark = pytest.mark.django_db
MINUTE = timedelta(minutes=1)


@pytest.fixture
def mailbox(settings: Any) -> Iterator[Mailbox]:
    with serve_mail() as box:
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", box.port
        yield box


@pytest.fixture
def receiver(settings: Any) -> Iterator[Server]:
    with serving(Reply()) as server:
        declare_hook(settings, server.address)
        yield server


def declare_hook(settings: Any, address: str, **more: Any) -> None:
    hook = {"base_url": f"{address}/alerts", "private_hosts": ["127.0.0.1"], "secret_value": "a-long-secret", **more}
    settings.CONVENGINE = {**settings.CONVENGINE, "HTTP_CONNECTIONS": {"hook": hook}}


def check(set_clock: Callable[[datetime], None], moment: datetime = NOW) -> None:
    set_clock(moment)
    count_until()
    list(check_alerts())
    list(outbox.send_due())


def test_mail_goes_through_a_mail_server(mailbox: Mailbox, set_clock: Any) -> None:
    make_rule(addresses=["ann@example.com"], site_url="https://bot.example.com/admin/")
    count(0, 100, 20)
    check(set_clock)
    (mail,) = mailbox.mails
    message = CeAlertMessage.objects.get()
    assert (mail["to"], mail["from"]) == ("ann@example.com", "Desk <desk@example.com>")
    assert mail["subject"] == "[Alert] Not understood: 20 % now"
    assert (mail["message-id"], mail["auto-submitted"]) == (f"<{message.pk}@example.com>", "auto-generated")
    text = str(mail.get_payload())
    assert "Rule: Not understood over 15\xa0% for an hour, with at least 30 turns." in text
    assert f"https://bot.example.com/admin/audit/cealert/{CeAlert.objects.get().pk}/change/" in text
    assert (message.status, message.attempts, message.sent_at) == ("SENT", 1, NOW)


def test_mail_that_fails_is_tried_again(mailbox: Mailbox, set_clock: Any) -> None:
    mailbox.refused = 1
    make_rule(addresses=["ann@example.com"], repeat_hours=0)
    count(0, 100, 20)
    check(set_clock)
    message = CeAlertMessage.objects.get()
    assert (message.status, message.attempts, message.next_attempt_at) == ("PENDING", 1, NOW + FIRST_PAUSE)
    assert "451" in message.error
    assert "try again later" in message.error
    check(set_clock, NOW + MINUTE)
    message.refresh_from_db()
    assert (message.status, message.attempts, message.error, len(mailbox.mails)) == ("SENT", 2, "", 1)


def test_a_message_that_waits_for_its_next_attempt_is_held_back_by_a_silence(mailbox: Mailbox, set_clock: Any) -> None:
    mailbox.refused = 1
    rule = make_rule(addresses=["ann@example.com"], repeat_hours=0)
    count(0, 100, 20)
    check(set_clock)
    silence_rule(rule, NOW + 30 * MINUTE, "known", "bo")
    check(set_clock, NOW + 10 * MINUTE)
    assert (CeAlertMessage.objects.get().attempts, mailbox.mails) == (1, [])
    check(set_clock, NOW + 30 * MINUTE)
    assert (CeAlertMessage.objects.get().status, len(mailbox.mails)) == ("SENT", 1)


def test_the_rules_do_not_wait_for_messages(mailbox: Mailbox, set_clock: Any) -> None:
    make_rule(addresses=[f"{number}@example.com" for number in range(50)], repeat_hours=0)
    count(0, 100, 20)
    set_clock(NOW)
    count_until()
    assert list(check_alerts()) == [{"fired": 1, "messages": 50}]
    assert mailbox.mails == []
    assert JOB.waits_outside
    assert sum(counts["sent"] for counts in JOB.work()) == len(mailbox.mails) == 50


def test_a_recipient_that_fails_holds_nobody_up(mailbox: Mailbox, receiver: Server, set_clock: Any) -> None:
    receiver.replies = [Reply(500, b"broken")]
    make_rule(addresses=[f"{name}@example.com" for name in "abcdefgh"], webhook="hook")
    count(0, 100, 20)
    check(set_clock)
    assert sorted(mail["to"][0] for mail in mailbox.mails) == list("abcdefgh")
    failed = CeAlertMessage.objects.get(channel="WEBHOOK")
    assert (failed.status, failed.attempts, len(receiver.asked)) == ("PENDING", 1, 1)
    assert "500" in failed.error
    assert "broken" in failed.error


def test_an_answer_that_no_database_stores_is_an_error_like_others(receiver: Server, set_clock: Any) -> None:
    receiver.replies = [Reply(500, b"bro\0ken")]
    make_rule(webhook="hook")
    count(0, 100, 20)
    check(set_clock)
    message = CeAlertMessage.objects.get()
    assert (message.status, message.attempts) == ("PENDING", 1)
    assert "500" in message.error


def test_a_webhook_is_signed_and_fits_its_schema(receiver: Server, set_clock: Any) -> None:
    make_rule(webhook="hook")
    count(0, 100, 20)
    check(set_clock)
    (request,) = receiver.asked
    time, signature = (part.partition("=")[2] for part in request.headers["convengine-signature"].split(","))
    expected = hmac.new(b"a-long-secret", f"{time}.".encode() + request.body, hashlib.sha256).hexdigest()
    assert (request.method, request.path, signature) == ("POST", "/alerts", expected)
    message = CeAlertMessage.objects.get()
    assert request.headers["idempotency-key"] == str(message.pk)
    assert request.headers["content-type"] == "application/json"
    assert b"a-long-secret" not in request.body

    body = json.loads(request.body)
    schema = json.loads((find_shipped("static") / "convengine/schemas/alert.schema.json").read_text())
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER).validate(body)
    assert (body["id"], body["type"]) == (str(message.pk), "alert.started")
    assert (body["alert"]["value"], body["alert"]["limit"], body["alert"]["turns"]) == (20.0, 15.0, 100)


def test_a_webhook_without_a_secret_has_no_signature(receiver: Server, settings: Any, set_clock: Any) -> None:
    declare_hook(settings, receiver.address, secret_value="")
    make_rule(webhook="hook")
    count(0, 100, 20)
    check(set_clock)
    assert "convengine-signature" not in receiver.asked[0].headers


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"NOTIFICATION_WEBHOOKS": []}, "not in CE_NOTIFICATION_WEBHOOKS"),
        ({"HTTP_CONNECTIONS": {}}, "The connection hook does not exist"),
        ({"HTTP_CONNECTIONS": {"hook": {"base_url": "http://127.0.0.1:1"}}}, "not public"),
    ],
)
def test_a_webhook_that_is_not_allowed_says_why(settings: Any, set_clock: Any, change: Any, text: str) -> None:
    settings.CONVENGINE = {**settings.CONVENGINE, **change}
    make_rule(webhook="hook")
    count(0, 100, 20)
    check(set_clock)
    message = CeAlertMessage.objects.get()
    assert message.status == "PENDING"
    assert text in message.error


def test_a_redirect_is_not_followed(receiver: Server, set_clock: Any) -> None:
    receiver.replies = [Reply(302, headers={"Location": "http://127.0.0.1:1/"})]
    make_rule(webhook="hook")
    count(0, 100, 20)
    check(set_clock)
    assert "redirects are not followed" in CeAlertMessage.objects.get().error


def test_without_a_sender_no_mail_is_sent(settings: Any, set_clock: Any) -> None:
    settings.CONVENGINE = {**settings.CONVENGINE, "NOTIFICATION_FROM": ""}
    make_rule(addresses=["ann@example.com"])
    count(0, 100, 20)
    check(set_clock)
    assert "CE_NOTIFICATION_FROM is not set" in CeAlertMessage.objects.get().error
