"""What receivers check, by the library that they use."""

import time

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from convengine.server.webhooks.signature import build_headers, create_secret

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
