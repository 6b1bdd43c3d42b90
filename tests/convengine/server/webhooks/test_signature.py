"""What receivers check, by the library that they use."""

import re
import time
from typing import Any

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from convengine.server.webhooks.signature import build_headers, create_secret
from tests.test_docs import ROOT

(READER,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs/webhooks.md").read_text(), re.DOTALL)
BODY = '{"type":"conversation.ended","data":{"reason":"schön"}}'


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
