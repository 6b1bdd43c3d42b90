import json
from typing import Any

import pytest
from django.core import mail

from convengine.engine.turn.ports import ToolAnswer
from convengine.server.executors import http_client
from convengine.server.executors.models import CeNotification
from convengine.server.executors.port import BuiltInTools
from convengine.server.extensions.registry import Registry
from convengine.server.resilience.circuit import Circuits
from tests.builders import make_session, make_snapshot
from tests.fakes.http_server import Reply, serving

pytestmark = pytest.mark.django_db
MAIL = {"to": "ada@example.com", "subject": "Your\norder", "text": "It was sent."}


@pytest.fixture(autouse=True)
def _allowed(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_client, "circuits", Circuits())
    settings.CONVENGINE = {
        **settings.CONVENGINE,
        "NOTIFICATION_RECIPIENTS": ["@example.com", "bo@elsewhere.org"],
        "NOTIFICATION_FROM": "desk@example.com",
        "NOTIFICATION_WEBHOOKS": ["hook"],
    }


def notify(args: Any, turn_no: int = 1, version: int = 0) -> ToolAnswer:
    tools = BuiltInTools(make_snapshot(), Registry())
    return tools.run("order.tell", "NOTIFY", args, make_session(turn_no=turn_no, version=version))


def test_an_email_is_sent_and_written_down() -> None:
    answer = notify(MAIL)

    assert answer.result == {"status": "SENT", "channel": "email", "to": "ada@example.com", "reused": False}
    (sent,) = mail.outbox
    assert (sent.to, sent.subject, sent.body, sent.from_email) == (
        ["ada@example.com"],
        "Your order",
        "It was sent.",
        "desk@example.com",
    )
    row = CeNotification.objects.get()
    assert (row.status, row.tool_code, row.turn_no, row.sent_at is not None) == ("SENT", "order.tell", 1, True)


def test_the_same_call_in_every_attempt_of_a_turn_sends_once() -> None:
    notify(MAIL)

    assert notify(MAIL, turn_no=2).result["reused"] is True
    assert notify(MAIL, turn_no=3, version=1).result["reused"] is False
    assert len(mail.outbox) == 2


@pytest.mark.parametrize(
    "to",
    [
        "eve@evil.org", "ada@example.com.evil.org", "ada@example.com\nBcc: x@y.z", "a@example.com,b@evil.org",
        "@example.com", "<ada@example.com>", "example.com", ["ada@example.com", "eve@evil.org"],
    ],
)  # fmt: skip
def test_tools_write_only_to_whom_the_deployment_allows(to: Any) -> None:
    assert notify({**MAIL, "to": to}).error_type == "RECIPIENT_REFUSED"
    assert (mail.outbox, CeNotification.objects.count()) == ([], 0)


@pytest.mark.parametrize(
    "change",
    [{"to": None}, {"to": []}, {"to": ["a@example.com"] * 11}, {"subject": " "}, {"text": 7}, {"channel": "fax"}],
)
def test_a_message_without_what_it_needs_is_not_sent(change: Any) -> None:
    assert notify({**MAIL, **change}).error_type == "INVALID_ARGS"


def test_a_failure_is_written_down_and_may_be_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(self: Any) -> None:
        raise ConnectionRefusedError("no mail server")

    with monkeypatch.context() as broken:
        broken.setattr("django.core.mail.EmailMessage.send", refuses)
        failed = notify(MAIL)
    row = CeNotification.objects.get()

    assert (failed.error_type, row.status, "no mail server" in row.error) == ("NOTIFICATION_FAILED", "FAILED", True)
    assert notify(MAIL).result["status"] == "SENT"


def test_a_webhook_gets_the_conversation_and_the_data(settings: Any) -> None:
    with serving(Reply(503), Reply(204, b"")) as server:
        hook = {"base_url": f"{server.address}/hooks/a", "private_hosts": ["127.0.0.1"]}
        settings.CONVENGINE = {**settings.CONVENGINE, "HTTP_CONNECTIONS": {"hook": hook}}

        answer = notify({"channel": "webhook", "to": "hook", "data": {"order": 7}})

        assert answer.result["status"] == "SENT"
        assert [request.path for request in server.asked] == ["/hooks/a", "/hooks/a"]
        assert len({request.headers["idempotency-key"] for request in server.asked}) == 1
        sent = json.loads(server.asked[0].body)
        assert (sent["data"], sent["turnNo"]) == ({"order": 7}, 1)


def test_a_webhook_that_is_not_listed_is_not_called() -> None:
    answer = notify({"channel": "webhook", "to": "orders", "data": {}})

    assert answer.error_type == "RECIPIENT_REFUSED"
