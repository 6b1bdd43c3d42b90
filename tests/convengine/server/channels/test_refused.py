"""Requests that are forged, come again, belong to others or make no sense: none is stored, and none costs much."""

import json
import time
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from io import BytesIO
from typing import Any
from urllib.parse import parse_qs, urlencode

import pytest
from django.test import Client, RequestFactory
from django.test.client import ClientHandler

from convengine.server.channels.models import CeChannel
from convengine.server.queued.models import CeQueuedMessage
from convengine.server.sessions.models import CeConversation
from tests.convengine.server.channels.conftest import World
from tests.fakes.channel_providers import Provider, Request, Shown, Slack, Telegram, WhatsApp
from tests.pace import allow

pytestmark = pytest.mark.django_db
USER, DAY, FORM = "49151", 86_400, "application/x-www-form-urlencoded"
SIGNATURES = {
    "telegram": "X-Telegram-Bot-Api-Secret-Token",
    "whatsapp": "X-Hub-Signature-256",
    "slack": "X-Slack-Signature",
}
FORGED = ["", "sha256=", "v0=00", "s3cre", "s3cret ", "ähm", f"sha256={64 * '0'}", 5_000 * "x"]
NO_OBJECT = [
    b"",
    b"null",
    b"[]",
    b"[{}]",
    b"7",
    b'"x"',
    b"{",
    b"\xff\xfe",
    b'{"a": NaN}',
    100_000 * b"[",
    100_000 * b'{"a":',
]
JUNK = [None, True, 0, -1, 10**18, 1e300, "", "\0", "\ufffe", 5_000 * "9", [], [[{}]], {}, {"id": {}}]
MOST_SECONDS = 0.003


def count_stored() -> int:
    return CeQueuedMessage.objects.count() + CeConversation.objects.count()


def sign(provider: Provider, body: bytes) -> Request:
    """A request of the provider with any body."""
    if isinstance(provider, WhatsApp | Slack):
        return provider.sign(body)
    return replace(provider.write(USER, ""), body=body)


@pytest.mark.parametrize("signature", FORGED)
def test_a_forged_request_is_refused(world: World, signature: str) -> None:
    answer = world.post(world.provider.write(USER, "hours"), **{SIGNATURES[world.provider.kind]: signature})

    assert (answer.status_code, answer.json()["errorCode"]) == (403, "REQUEST_REFUSED")
    assert count_stored() == 0


def test_a_request_without_headers_or_with_another_body_is_refused(world: World) -> None:
    request = world.provider.write(USER, "hours")
    assert world.post(replace(request, headers={})).status_code == 403
    if world.provider.kind != "telegram":
        # Telegram signs no body.
        assert world.post(replace(request, body=request.body.replace(b"hours", b"fees "))).status_code == 403
    assert Client().get("/channels/shop/?hub.verify_token=%ff%00&hub.challenge=1").status_code == 403
    assert Client().put("/channels/shop/", b"{}").status_code == 405
    assert count_stored() == 0


@pytest.mark.parametrize(
    "sent_at",
    ["0", "-5", "", "soon", "٣", 5_000 * "9", f"{time.time() - DAY:.0f}", f"{time.time() + DAY:.0f}"],
    ids=["epoch", "negative", "empty", "word", "arabic", "long", "yesterday", "tomorrow"],
)
def test_a_request_of_another_time_is_refused_by_slack(slack: World, sent_at: str) -> None:
    request = slack.provider.write(USER, "hours")

    assert slack.post(request, **{"X-Slack-Request-Timestamp": sent_at}).status_code == 403
    old = slack.provider.sign(request.body, at=time.time() - DAY)
    assert slack.post(old).status_code == 403
    assert count_stored() == 0


@pytest.mark.parametrize(
    ("world", "column", "kind"), [(Telegram, "date", int), (WhatsApp, "timestamp", str)], indirect=["world"]
)
def test_a_message_that_is_older_than_stored_answers_is_taken_without_effect(
    world: World, column: str, kind: type
) -> None:
    old = {column: kind(int(time.time() - 2 * DAY))}

    assert world.post(world.provider.write(USER, "hours", **old)).status_code == 200
    assert count_stored() == 0


def test_a_request_that_comes_again_has_no_further_effect(world: World) -> None:
    request = world.provider.write(USER, "hours")

    assert [world.post(request).status_code for _ in range(3)] == [200, 200, 200]
    assert CeQueuedMessage.objects.count() == 1


def test_a_request_for_another_channel_is_refused(world: World, settings: Any) -> None:
    names = {name: f"OTHER_{name.upper()}" for name in world.provider.secrets}
    CeChannel.objects.create(
        name="other", provider=world.provider.kind, secrets=names, settings=world.provider.settings
    )
    known = settings.CONVENGINE["CHANNEL_SECRETS"]
    others = {variable: f"other {number}" for number, variable in enumerate(names.values())}
    settings.CONVENGINE = {**settings.CONVENGINE, "CHANNEL_SECRETS": {**known, **others}}
    request = world.provider.write(USER, "hours")

    assert _post("other", request) == 403
    assert _post("none", request) == 404
    CeChannel.objects.update(is_enabled=False)
    assert _post("shop", request) == 404
    assert count_stored() == 0


def _post(name: str, request: Request) -> int:
    headers = dict(request.headers)
    return (
        Client()
        .post(f"/channels/{name}/", request.body, content_type=request.content_type, headers=headers)
        .status_code
    )


def test_a_message_to_another_number_is_left(whatsapp: World) -> None:
    provider = whatsapp.provider
    foreign = provider.post("4712", messages=[provider.message(USER, text={"body": "hours"})])

    assert whatsapp.post(foreign).status_code == 200
    assert count_stored() == 0


@pytest.mark.parametrize("body", NO_OBJECT, ids=[str(body[:12]) for body in NO_OBJECT])
def test_a_body_that_is_no_object_is_refused(world: World, body: bytes) -> None:
    assert world.post(sign(world.provider, body)).status_code == 403
    assert count_stored() == 0


@pytest.mark.parametrize("kind", [FORM, "multipart/form-data; boundary=x", "text/plain", ""])
def test_a_body_of_another_kind_is_refused(world: World, kind: str) -> None:
    for body in (b"payload=", b"payload=[]", b"payload=%00", b"a=b&" * 2_000, b"--x\r\n\r\n--x--"):
        assert world.post(replace(sign(world.provider, body), content_type=kind)).status_code in (400, 403), body
    assert count_stored() == 0


def test_a_huge_body_is_refused(world: World) -> None:
    huge = json.dumps({"message": {"text": 8_000_000 * "x"}}).encode()

    assert world.post(sign(world.provider, huge)).status_code in (400, 413)
    assert count_stored() == 0


@pytest.mark.slow
def test_values_of_wrong_types_do_no_harm(world: World) -> None:
    provider = world.provider
    requests = [provider.write(USER, "hours"), provider.write(USER, None), provider.choose(USER, "Yes")]
    if isinstance(provider, WhatsApp):
        requests.append(provider.tell(Shown(USER, "x", name="wamid.1"), "failed", errors=[{"code": 131047}]))
    for request in requests:
        document, is_form = _read(request)
        for changed in _mutate(document):
            body = json.dumps(changed).encode()
            mutated = sign(provider, urlencode({"payload": body}).encode() if is_form else body)
            mutated = replace(mutated, content_type=request.content_type)
            assert world.post(mutated).status_code in (200, 403), changed
            for row in CeQueuedMessage.objects.all():
                words = f"{row.key} {row.thread['remote_jid']}"
                assert not any(sign in words for sign in ("None", "{", "[", "True")), changed
                assert 0 < len(row.thread["remote_jid"]) <= 400, changed
            CeQueuedMessage.objects.all().delete()
    assert CeConversation.objects.count() == 0


def _read(request: Request) -> tuple[Any, bool]:
    is_form = request.content_type == FORM
    return json.loads(parse_qs(request.body)[b"payload"][0] if is_form else request.body), is_form


def _mutate(document: Any) -> Iterator[Any]:
    """The document with each of its values replaced by junk."""
    for path in list(_list_paths(document)):
        for junk in JUNK:
            changed = deepcopy(document)
            inner = changed
            for name in path[:-1]:
                inner = inner[name]
            inner[path[-1]] = junk
            yield changed


def _list_paths(value: Any, *path: Any) -> Iterator[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, inner in items:
        yield (*path, name)
        yield from _list_paths(inner, *path, name)


def test_a_forged_request_costs_little(world: World) -> None:
    request, handle, seconds = world.provider.write(USER, "hours"), ClientHandler(), []
    headers = {**request.headers, SIGNATURES[world.provider.kind]: "v0=00"}
    sent = RequestFactory().post("/channels/shop/", request.body, content_type=request.content_type, headers=headers)
    for _ in range(10):
        environments = [{**sent.environ, "wsgi.input": BytesIO(request.body)} for _ in range(20)]
        began = time.process_time()
        statuses = {handle(environ).status_code for environ in environments}
        seconds.append((time.process_time() - began) / len(environments))
        assert statuses == {403}
    assert min(seconds) < allow(MOST_SECONDS)
