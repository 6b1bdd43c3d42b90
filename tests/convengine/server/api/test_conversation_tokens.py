"""Conversation tokens: what a browser may do in place of a key, and nothing else."""

import uuid
from dataclasses import dataclass, field
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client, override_settings

from convengine.server.api.conversation_token import LIFETIME, RESUMABLE
from convengine.server.api.models import CeApiKey
from convengine.server.sessions.models import CeConversation, CeConversationHistory
from tests.api import Caller, make_key
from tests.worlds import create_help_desk

pytestmark = pytest.mark.django_db
SHOP, OTHER = "https://shop.example.com", "https://other.example.com"
TOKEN, VISITOR = "/api/v1/conversation/token", "/api/v1/chat/token"


@dataclass
class Browser:
    """A page with a token."""

    token: str
    origin: str | None = SHOP
    client: Client = field(default_factory=Client)

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        origin = {"Origin": self.origin} if self.origin else {}
        headers = {"Authorization": f"Bearer {self.token}", **origin, **headers}
        send = getattr(self.client, method)
        if method == "get":
            return send(path, headers=headers)
        return send(path, data=body, content_type="application/json", headers=headers)

    def say(self, text: str, **body: Any) -> Any:
        return self.call("post", "/api/v1/conversation/message", {"message": text, **body})

    def transcript(self, after: int = 0) -> Any:
        return self.call("get", f"/api/v1/conversation/transcript?after={after}")


class Clock:
    """The time of signatures."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def shift(self, by: timedelta) -> None:
        self.now += by.total_seconds()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("django.core.signing.time", SimpleNamespace(time=lambda: clock.now))
    return clock


@pytest.fixture(autouse=True)
def _help_desk(db: None) -> None:
    create_help_desk()


def make_token(secret: str | None = None, **body: Any) -> Any:
    secret = secret or make_key(scopes=["turns"])
    headers = {"Authorization": f"Api-Key {secret}"}
    return Client().post(TOKEN, {"origin": SHOP, **body}, content_type="application/json", headers=headers).json()


def browse(**body: Any) -> Browser:
    return Browser(make_token(**body)["token"])


def test_a_browser_takes_turns_in_its_conversation_and_reads_them() -> None:
    made = make_token(channel="shop")
    browser = Browser(made["token"])

    answer = browser.say("your hours please")
    browser.say("and the fees")

    body = answer.json()
    assert (answer.status_code, body["conversationId"], body["reply"]) == (200, made["conversationId"], "Nine to five.")
    assert body["context"] is None
    transcript = browser.transcript().json()
    said = [(message["speaker"], message["text"]) for message in transcript["messages"]]
    assert said[:3] == [("user", "your hours please"), ("bot", "Nine to five."), ("user", "and the fees")]
    assert [message["turnNo"] for message in browser.transcript(after=1).json()["messages"]] == [2, 2]
    assert CeConversation.objects.get().channel == "shop"


def test_each_turn_renews_the_token(clock: Clock) -> None:
    browser = browse()
    clock.shift(LIFETIME - timedelta(seconds=1))
    browser.token = browser.say("hours").headers["X-Conversation-Token"]
    clock.shift(LIFETIME - timedelta(seconds=1))
    assert browser.say("hours").status_code == 200
    clock.shift(timedelta(seconds=2))
    refused = browser.say("hours")

    assert (refused.status_code, refused.json()["errorCode"]) == (401, "NOT_AUTHENTICATED")
    assert "has expired" in refused.json()["message"]


def test_what_the_server_knows_of_the_user_is_part_of_every_turn() -> None:
    browser = browse(inputParams={"tier": "gold"})

    browser.say("hours")

    assert CeConversation.objects.get().input_params_json["tier"] == "gold"
    refused = browser.say("hours", inputParams={"tier": "platinum"})
    assert (refused.status_code, refused.json()["errorCode"]) == (403, "FORBIDDEN")
    assert "inputParams" in refused.json()["message"]


@pytest.mark.parametrize("origin", [OTHER, None, "null"])
def test_a_page_of_another_origin_is_refused_in_words(origin: str | None) -> None:
    browser = browse()
    browser.origin = origin

    refused = browser.say("hours")

    assert (refused.status_code, refused.json()["errorCode"]) == (403, "FORBIDDEN")
    assert SHOP in refused.json()["message"]
    assert not CeConversationHistory.objects.exists()


def test_a_page_of_the_server_itself_reads_without_naming_its_origin() -> None:
    browser = browse(origin="http://testserver")
    browser.origin = None

    own = browser.call("get", "/api/v1/conversation/transcript", **{"Sec-Fetch-Site": "same-origin"})
    foreign = browser.call("get", "/api/v1/conversation/transcript", **{"Sec-Fetch-Site": "cross-site"})

    assert (own.status_code, foreign.status_code) == (200, 403)


def test_another_conversation_is_refused_in_words() -> None:
    browser, other = browse(), str(uuid.uuid4())

    turn = browser.say("hours", conversationId=other)
    rated = {"conversationId": other, "feedbackType": "THUMBS_UP"}
    rating = browser.call("post", "/api/v1/conversation/feedback", rated)

    assert (turn.status_code, rating.status_code) == (403, 403)
    assert "is for the conversation" in turn.json()["message"]


def test_an_answer_is_rated() -> None:
    browser = browse()
    turn = browser.say("hours").json()

    rated = {"conversationId": turn["conversationId"], "feedbackType": "THUMBS_UP", "messageId": turn["turnId"]}
    assert browser.call("post", "/api/v1/conversation/feedback", rated).status_code == 201


def test_a_forged_or_a_foreign_token_is_refused() -> None:
    browser = browse()
    browser.token = browser.token[:-3] + ("abc" if browser.token[-3:] != "abc" else "xyz")

    assert browser.say("hours").json()["message"] == "This is not a conversation token of this server."


def test_a_revoked_key_ends_its_tokens() -> None:
    browser = browse()
    CeApiKey.objects.update(revoked=True)

    assert browser.say("hours").json()["message"] == "This API key was revoked."


def test_a_key_that_moved_to_another_workspace_leaves_its_conversations() -> None:
    browser = browse()
    browser.say("hours")
    CeApiKey.objects.update(workspace_id="elsewhere")

    assert browser.transcript().json()["messages"] == []
    assert browser.say("hours").status_code == 404


def test_a_stored_conversation_goes_on_if_the_key_may_use_it() -> None:
    caller = Caller()
    caller.say("hours")
    stranger = make_key(workspace_id="elsewhere", scopes=["turns"])

    own = make_token(caller.secret, conversationId=caller.conversation_id)

    assert own["conversationId"] == caller.conversation_id
    assert make_token(stranger, conversationId=caller.conversation_id)["errorCode"] == "NOT_FOUND"


def test_the_last_token_of_a_browser_says_which_conversation_goes_on_for_a_day(clock: Clock) -> None:
    secret = make_key(scopes=["turns"])
    first = make_token(secret)
    foreign = make_token(token=first["token"])
    clock.shift(RESUMABLE - timedelta(seconds=1))
    resumed = make_token(secret, token=first["token"])
    clock.shift(timedelta(seconds=2))
    late = make_token(secret, token=first["token"])

    assert resumed["conversationId"] == first["conversationId"] != late["conversationId"]
    assert "Another API key" in str(foreign["fields"])


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"origin": "shop.example.com"}, "origin"),
        ({"origin": "https://shop.example.com/path"}, "origin"),
        ({"channel": "a b"}, "channel"),
        ({"inputParams": {"approval_granted": True}}, "inputParams"),
        ({"token": "nonsense"}, "token"),
        ({"lifetime": 3}, "lifetime"),
    ],
)
def test_a_wrong_field_is_named(body: dict[str, Any], field: str) -> None:
    refused = make_token(**body)

    assert (refused["errorCode"], list(refused["fields"])) == ("VALIDATION_ERROR", [field])


def test_a_token_gets_no_trace_and_no_context() -> None:
    browser = browse(secret=make_key(scopes=["turns", "audit"]))

    refused = browser.call("post", "/api/v1/conversation/message?include=trace", {"message": "hours"})
    answer = browser.call("post", "/api/v1/conversation/message?context=all", {"message": "hours"})

    assert refused.status_code == 403
    assert answer.json()["context"] is None


def test_retries_of_two_browsers_with_one_idempotency_key_do_not_meet() -> None:
    secret = make_key(scopes=["turns"])
    for browser in (browse(secret=secret), browse(secret=secret)):
        for _ in range(2):
            answer = browser.call(
                "post", "/api/v1/conversation/message", {"message": "hours"}, **{"Idempotency-Key": "1"}
            )
            assert answer.json()["turnNo"] == 1

    assert CeConversationHistory.objects.count() == 2


@override_settings(CONVENGINE={"CHAT_RATE": "2/min"})
def test_each_conversation_has_its_own_limit() -> None:
    secret = make_key(scopes=["turns"])
    browsers = browse(secret=secret), browse(secret=secret)

    statuses = [browser.say("hours").status_code for browser in (browsers[0],) * 3 + browsers[1:]]

    assert statuses == [200, 200, 429, 200]


@override_settings(CONVENGINE={"CHAT": True, "CHAT_ORIGINS": [SHOP]})
def test_visitors_get_a_token_on_pages_that_may_have_one() -> None:
    def ask(origin: str, **body: Any) -> Any:
        return Client().post(VISITOR, body, content_type="application/json", headers={"Origin": origin})

    made, own, refused = ask(SHOP), ask("http://testserver"), ask(OTHER)
    again = ask(SHOP, token=made.json()["token"])

    assert Browser(made.json()["token"]).say("hours").json()["success"]
    assert (own.status_code, refused.status_code) == (200, 403)
    assert again.json()["conversationId"] == made.json()["conversationId"]
    assert made.headers["Access-Control-Allow-Origin"] == SHOP
    assert "CE_CHAT_ORIGINS" in refused.json()["message"]
    assert CeApiKey.objects.get().name == "Visitors of the chat"


def begin(monkeypatch: pytest.MonkeyPatch, at: float, forwarded: str = "", **body: Any) -> Any:
    """A visitor who opens the chat at this second."""
    monkeypatch.setattr("convengine.server.database.throttle.time.time", lambda: at)
    headers = {"Origin": SHOP, **({"X-Forwarded-For": forwarded} if forwarded else {})}
    return Client().post(VISITOR, body, content_type="application/json", headers=headers)


NOON = 1_800_000_000.0
VISITORS = {"CHAT": True, "CHAT_ORIGINS": [SHOP]}


@override_settings(CONVENGINE={**VISITORS, "CHAT_TOKEN_RATE": "3/min", "CHAT_TOKEN_DAY_RATE": "5/day"})
def test_the_conversations_that_begin_at_one_address_are_limited_by_minute_and_by_day(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    minute = [begin(monkeypatch, NOON + second) for second in range(4)]
    next_minute = [begin(monkeypatch, NOON + 61 + second).status_code for second in range(4)]

    assert [answer.status_code for answer in minute] == [200, 200, 200, 429]
    assert 0 < int(minute[-1].headers["Retry-After"]) <= 60
    # Two more are the day's last.
    assert next_minute == [200, 200, 429, 429]
    assert begin(monkeypatch, NOON + 86_400).status_code == 200


@override_settings(CONVENGINE={**VISITORS, "CHAT_TOKEN_RATE": "1/min"})
def test_a_conversation_that_goes_on_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    token = begin(monkeypatch, NOON).json()["token"]

    assert {begin(monkeypatch, NOON + 1, token=token).status_code for _ in range(3)} == {200}
    assert begin(monkeypatch, NOON + 2).status_code == 429


@override_settings(CONVENGINE={**VISITORS, "CHAT_TOKEN_RATE": "1/min", "TRUSTED_PROXIES": 1})
def test_behind_a_proxy_each_visitor_has_an_address_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    addresses = ("203.0.113.7", "203.0.113.8", "198.51.100.1, 203.0.113.7")

    assert [begin(monkeypatch, NOON, address).status_code for address in addresses] == [200, 200, 429]


@override_settings(CONVENGINE=VISITORS)
def test_an_office_of_two_hundred_behind_one_address_is_served(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty a minute, in ten minutes."""
    statuses = [begin(monkeypatch, NOON + 3 * number).status_code for number in range(200)]

    assert set(statuses) == {200}


@pytest.mark.parametrize(
    "origin",
    [
        *("https://testserver", "http://testserver:8080", "http://testserver.example", "ftp://testserver"),
        *("//testserver", "testserver", "http://testserver/", "http://testserver#x", "http://testserver?x"),
        *("http://ada@testserver", "http://TESTSERVER", "null", ""),
        # The same of an origin in CHAT_ORIGINS.
        *("http://shop.example.com", f"{SHOP}:8443", f"{SHOP}/", f"{SHOP}#x", f"{SHOP}.evil.example"),
    ],
)
@override_settings(CONVENGINE={"CHAT": True, "CHAT_ORIGINS": [SHOP]})
def test_an_origin_is_a_scheme_a_host_and_a_port_and_nothing_else(origin: str) -> None:
    refused = Client().post(VISITOR, {}, content_type="application/json", headers={"Origin": origin})

    assert refused.status_code == 403


@pytest.mark.parametrize(
    "origin", ["ftp://a.example", "//a.example", "https://a.example#x", "https://a.example/", "https://b@a.example",
               "https://a.example\\x"]
)  # fmt: skip
def test_a_token_is_made_for_an_origin_only(origin: str) -> None:
    headers = {"Authorization": f"Api-Key {make_key()}"}
    refused = Client().post(TOKEN, {"origin": origin}, content_type="application/json", headers=headers)

    assert (refused.status_code, list(refused.json()["fields"])) == (400, ["origin"])


def test_a_page_with_another_scheme_is_not_of_the_server_itself() -> None:
    browser = browse(origin="https://testserver")
    browser.origin = None
    refused = browser.call("get", "/api/v1/conversation/transcript", **{"Sec-Fetch-Site": "same-origin"})

    assert refused.status_code == 403


def test_visitors_get_no_token_unless_the_deployment_says_so() -> None:
    refused = Client().post(VISITOR, {}, content_type="application/json", headers={"Origin": "http://testserver"})

    assert (refused.status_code, "CE_CHAT=true" in refused.json()["message"]) == (404, True)
    assert Client().get("/chat/").status_code == 404


def test_pages_of_every_origin_may_call_with_a_token_and_not_with_a_key() -> None:
    browser = browse()
    browser.origin = OTHER
    question = {"Origin": OTHER, "Access-Control-Request-Method": "POST"}
    asked = Client().options("/api/v1/conversation/message", headers=question)
    with_key = Caller().post({"message": "hours"}, Origin=OTHER)

    assert asked.headers["Access-Control-Allow-Origin"] == OTHER
    assert "authorization" in asked.headers["Access-Control-Allow-Headers"]
    # It reads that its token is for others.
    assert browser.say("hours").headers["Access-Control-Allow-Origin"] == OTHER
    assert "Access-Control-Allow-Origin" not in with_key.headers
