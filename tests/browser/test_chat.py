"""The web chat in a real browser: on the demonstration's server, and on answers that a test makes up."""

import gzip
import json
import re
import urllib.request
from collections.abc import Callable, Iterator
from html import escape
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from tests.browser.axe import no_violations
from tests.browser.conftest import ROOT, Server, Visitor
from tests.chat_texts import read_texts
from tests.fakes.http_server import Reply, serving

pytestmark = pytest.mark.browser
SCRIPT = ROOT / "static/convengine/chat.js"
TEXTS = read_texts()
HOSTILE_TEXTS = Path(__file__).with_name("hostile_texts.txt")
EXAMPLES = dict(re.findall(r"```(\w+)\n(.*?)```", (ROOT / "docs/chat.md").read_text(), re.DOTALL))
SCREENS = pytest.mark.parametrize(
    ("width", "scheme"),
    [
        (1280, "light"),
        (390, "dark"),
        pytest.param(1280, "dark", marks=pytest.mark.nightly),
        pytest.param(390, "light", marks=pytest.mark.nightly),
    ],
)
PAGE = """<!DOCTYPE html><html lang="{language}"><head><meta charset="utf-8"><title>Shop</title>
<meta name="viewport" content="width=device-width, initial-scale=1"></head>
<body><main><h1>Shop</h1><p>What we sell.</p><div id="place"></div></main>
<script src="{server}/chat.js" {attributes}></script></body></html>"""
CONVERSATION = "5d3c8f7e-1a2b-4c3d-8e9f-0a1b2c3d4e5f"
OTHER_CONVERSATION = "7e1f0a9b-8c7d-4e6f-9a5b-4c3d2e1f0a9b"
QUIET = {"asked": None, "confirm": None, "choices": None}
DAY = {"field": "day", "title": "Day", "type": "string", "options": [], "min": "2026-11-24", "max": "2027-02-21"}


class Chat:
    """The chat on a page of its own, as its visitor uses it."""

    def __init__(self, visitor: Visitor, attributes: str = "", *, language: str = "en", path: str = "/shop") -> None:
        self.visitor = visitor
        self.server = visitor.server
        self.page = visitor.tab
        html = PAGE.format(language=language, server=self.server.url, attributes=attributes)
        self.page.route(f"**{path}", lambda route: route.fulfill(content_type="text/html", body=html))
        visitor.go(path)
        self.launcher = self.page.locator(".launcher")
        self.panel = self.page.locator(".panel")
        self.field = self.page.locator("#field")
        self.log = self.page.get_by_role("log")
        self.alert = self.panel.get_by_role("alert")
        self.items = self.page.locator(".item")
        self.answers = self.page.locator(".item.bot:has(.rating)")

    def open(self) -> "Chat":
        self.launcher.click()
        expect(self.field).to_be_focused()
        return self

    def send(self, text: str) -> str:
        """Send a message by the keyboard, and wait for its answer."""
        count = self.answers.count()
        self.field.fill(text)
        self.field.press("Enter")
        return self.read_answer(count)

    def read_answer(self, count: int) -> str:
        """The answer after so many."""
        expect(self.answers).to_have_count(count + 1)
        expect(self.page.locator(".typing")).to_be_hidden()
        return self.answers.last.locator(".bubble").inner_text()

    def press(self, name: str) -> str:
        """Press a button of the last question by the keyboard, and wait for the answer."""
        count = self.answers.count()
        self.tab_to(self.panel.get_by_role("button", name=name, exact=True))
        self.page.keyboard.press("Enter")
        return self.read_answer(count)

    def tab_to(self, wanted: Locator) -> None:
        """Press Tab until something in the shadow root has the focus."""
        for _ in range(80):
            if wanted.evaluate("element => element === element.getRootNode().activeElement"):
                return
            self.page.keyboard.press("Shift+Tab")
        pytest.fail(f"Tab does not lead to {wanted}")

    def list_texts(self) -> list[str]:
        """What the list shows, oldest first."""
        return self.page.locator(".item .bubble").all_inner_texts()

    def read_state(self) -> dict[str, Any]:
        """What the tab remembers."""
        state: dict[str, Any] = self.page.evaluate("JSON.parse(Object.values(sessionStorage)[0])")
        return state

    def list_turns(self) -> list[str]:
        """The messages of the turns that the server stored, oldest first."""
        address = f"{self.server.url}/api/v1/conversation/{self.read_state()['conversationId']}/turns"
        request = urllib.request.Request(address, headers={"Authorization": f"Api-Key {self.server.api_key}"})
        with urllib.request.urlopen(request, timeout=30) as response:
            return [turn["userText"] for turn in reversed(json.load(response)["results"])]


class Answers:
    """Answers of the server that a test makes up: one after the other, the last one again and again."""

    def __init__(self, page: Page, path: str, *answers: dict[str, Any], status: int = 200) -> None:
        self.answers = list(answers)
        self.requests: list[Any] = []
        self.status = status
        page.route(re.compile(rf"/api/v1/{path}(\?|$)"), self._answer)

    def _answer(self, route: Route) -> None:
        self.requests.append(route.request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        route.fulfill(status=answer.get("status", self.status), json=answer)


def make_turn(turn_no: int, reply: str, **report: Any) -> dict[str, Any]:
    turn = {"conversationId": CONVERSATION, "turnId": str(UUID(int=turn_no)), "turnNo": turn_no, "reply": reply}
    return {**turn, "stateReport": {**QUIET, **report}}


def make_message(turn_no: int, speaker: str, text: str) -> dict[str, Any]:
    return {"speaker": speaker, "text": text, "turnNo": turn_no, "turnId": str(UUID(int=turn_no)), "at": ""}


def make_transcript(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    last_turn_no = max((message["turnNo"] for message in messages), default=0)
    return {"conversationId": CONVERSATION, "messages": messages, "lastTurnNo": last_turn_no, **more}


def make_failure(status: int, code: str, *, recoverable: bool, text: str = "No.") -> dict[str, Any]:
    return {"success": False, "status": status, "errorCode": code, "message": text, "recoverable": recoverable}


def fake_server(page: Page, *turns: dict[str, Any], transcript: dict[str, Any] | None = None) -> Answers:
    """A conversation that the test makes up."""
    Answers(page, "chat/token", {"token": "of-a-test", "conversationId": CONVERSATION})
    Answers(page, "conversation/transcript", transcript or make_transcript())
    Answers(page, "conversation/feedback", {}, status=201)
    return Answers(page, "conversation/message", *turns)


@pytest.fixture
def visitor(somebody: Any) -> Visitor:
    """Somebody who is not signed in."""
    visitor: Visitor = somebody()
    return visitor


@SCREENS
def test_a_move_is_booked_by_keyboard_with_buttons_and_with_text(visitor: Visitor, width: int, scheme: str) -> None:
    chat = Chat(visitor.at(width, scheme))
    page = chat.page
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(chat.field).to_be_focused()
    chat.send("I want to move my electricity")
    chat.send("meter 12345678, 12 Mill Lane")

    day = chat.panel.get_by_label("move-in date")
    chat.tab_to(day)
    day.fill("2031-03-14")
    count = chat.answers.count()
    page.keyboard.press("Enter")
    chat.read_answer(count)
    assert "On Mondays the shop is open" in chat.send("are you open on Mondays?")
    chat.press("Comfort")
    assert "tariff: Comfort" in chat.send("me@example.com")
    assert "tariff: Solo" in chat.send("the tariff is Solo")
    assert "14 March 2031" in chat.answers.last.inner_text()
    assert visitor.fits
    chat.press("yes")

    said = ["are you open on Mondays?", "Comfort", "me@example.com", "the tariff is Solo", "yes"]
    assert chat.list_turns()[2:] == ["2031-03-14", *said]
    expect(chat.panel.get_by_role("button", name="yes", exact=True)).to_have_count(0)
    page.keyboard.press("Escape")
    expect(chat.panel).to_be_hidden()
    expect(chat.launcher).to_be_focused()


def test_an_answer_that_is_lost_on_the_way_comes_again(visitor: Visitor) -> None:
    chat = Chat(visitor).open()
    chat.send("hello")
    keys = []

    def lose_answer(route: Route) -> None:
        keys.append(route.request.headers["idempotency-key"])
        if len(keys) < 3:
            route.fetch()
            route.abort("connectionreset")
        else:
            route.continue_()

    chat.page.route("**/conversation/message", lose_answer)
    chat.field.fill("where is my order")
    chat.field.press("Enter")
    expect(chat.alert).to_have_text("No connection to the server. Trying again …")
    chat.read_answer(1)
    expect(chat.alert).to_be_empty()

    assert len(keys) == 3
    assert len(set(keys)) == 1
    assert chat.list_turns() == ["hello", "where is my order"]
    assert chat.list_texts().count("where is my order") == 1
    visitor.troubles.clear()


def test_a_message_written_offline_is_sent_when_the_browser_is_online(visitor: Visitor) -> None:
    chat = Chat(visitor).open()
    chat.send("hello")
    context = chat.page.context
    context.set_offline(True)
    chat.field.fill("where is my order")
    chat.field.press("Enter")
    expect(chat.alert).to_contain_text("You are offline")
    assert chat.list_texts()[-1] == "where is my order"
    assert chat.list_turns() == ["hello"]
    context.set_offline(False)
    chat.read_answer(1)

    expect(chat.alert).to_be_empty()
    assert chat.list_turns() == ["hello", "where is my order"]
    visitor.troubles.clear()


@pytest.mark.parametrize("is_committed", [True, False])
def test_a_message_without_an_answer_survives_a_reload(visitor: Visitor, is_committed: bool) -> None:
    chat = Chat(visitor).open()
    chat.send("hello")

    def lose(route: Route) -> None:
        if is_committed:
            route.fetch()
        route.abort("connectionreset")

    chat.page.route("**/conversation/message", lose)
    with chat.page.expect_event("requestfailed"):
        chat.field.fill("I want to cancel my order")
        chat.field.press("Enter")
    chat.page.unroute("**/conversation/message")
    chat.page.reload()
    chat.read_answer(1)

    assert chat.list_turns() == ["hello", "I want to cancel my order"]
    assert chat.list_texts().count("I want to cancel my order") == 1
    visitor.troubles.clear()


def test_a_reload_goes_on_with_the_conversation(visitor: Visitor) -> None:
    chat = Chat(visitor).open()
    chat.send("I want to move my electricity")
    chat.send("meter 12345678, 12 Mill Lane, a@example.com, tomorrow")
    texts = chat.list_texts()
    chat.answers.last.get_by_role("button", name="Bad answer").click()
    expect(chat.answers.last.get_by_role("button", name="Bad answer")).to_have_attribute("aria-pressed", "true")
    chat.page.reload()
    expect(chat.answers).to_have_count(2)

    assert chat.list_texts() == texts
    expect(chat.field).not_to_be_focused()
    expect(chat.answers.last.get_by_role("button", name="Bad answer")).to_have_attribute("aria-pressed", "true")
    assert "tariff: Solo" in chat.press("Solo")


def test_start_again_asks_first_and_empties_the_list(visitor: Visitor) -> None:
    chat = Chat(visitor).open()
    chat.send("I want to cancel my order")
    restart = chat.panel.locator("header").get_by_role("button", name="Start again")
    restart.click()
    chat.page.keyboard.press("Escape")
    expect(restart).to_be_focused()
    expect(chat.panel).to_be_visible()
    restart.click()
    chat.panel.locator(".offers").get_by_role("button", name="Start again").click()
    chat.read_answer(0)
    texts = chat.list_texts()
    assert "I want to cancel my order" not in texts
    chat.page.reload()
    expect(chat.answers).to_have_count(1)

    assert chat.list_texts() == texts


@pytest.mark.long
def test_hostile_texts_are_shown_as_texts(visitor: Visitor) -> None:
    """Each as a message and as its answer."""
    texts = list(read_hostile_texts())
    assert len(texts) >= 100
    page = visitor.at(390, "light").tab
    page.on("dialog", lambda dialog: pytest.fail(f"A script ran: {dialog.message}"))
    fake_server(page, *(make_turn(number, text) for number, text in enumerate(texts, 1)))
    chat = Chat(visitor).open()
    size = chat.panel.bounding_box()
    for number, text in enumerate(texts, 1):
        chat.field.fill(text)
        chat.field.press("Enter")
        page.wait_for_function(
            "number => JSON.parse(Object.values(sessionStorage)[0]).report?.turnNo === number", arg=number
        )
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), text
        assert chat.log.evaluate("log => log.scrollWidth <= log.clientWidth"), text
        assert chat.panel.bounding_box() == size, text

    bubbles = page.locator(".bubble")
    assert bubbles.count() > 190
    names = bubbles.evaluate_all(
        "all => all.flatMap((one) => [...one.querySelectorAll('*')].map(({localName}) => localName))"
    )
    assert set(names) == {"a"}
    links = page.locator(".bubble a")
    protocols = set(links.evaluate_all("all => all.map(({protocol}) => protocol)"))
    assert protocols == {"http:", "https:", "mailto:", "tel:"}
    assert set(links.evaluate_all("all => all.map(({rel, target}) => `${rel} ${target}`)")) == {
        "noopener noreferrer _blank"
    }
    assert not page.evaluate("'hacked' in window")
    assert page.locator("#place").evaluate("element => element.getBoundingClientRect().width") > 0


def read_hostile_texts() -> Iterator[str]:
    """The list, with its abbreviations written out."""
    for line in HOSTILE_TEXTS.read_text().splitlines():
        if not line.startswith("#"):
            text = re.sub(r"\{U\+([0-9A-F]+)\}", lambda match: chr(int(match[1], 16)), line)
            yield re.sub(r"(.)\{x(\d+)\}", lambda match: match[1] * int(match[2]), text, flags=re.DOTALL)


def test_the_server_takes_hostile_messages(visitor: Visitor) -> None:
    chat = Chat(visitor).open()
    for text in ("<img src=x onerror=window.hacked=1>", "\u202eolleh", "{{7*7}}", "a" * 3000):
        chat.send(text)
    chat.page.reload()
    expect(chat.answers).to_have_count(4)

    assert chat.list_turns()[0] == "<img src=x onerror=window.hacked=1>"
    assert not chat.page.evaluate("'hacked' in window")


@SCREENS
def test_axe_sees_nothing_wrong(visitor: Visitor, width: int, scheme: str) -> None:
    person = make_transcript(make_message(1, "user", "Help"), make_message(1, "person", "See https://example.com/"))
    fake_server(
        visitor.at(width, scheme).tab,
        make_turn(2, "Which day?", asked={**DAY, "format": "date"}),
        make_turn(3, "Shall I?", confirm={"yes": "yes", "no": "no"}),
        make_failure(400, "VALIDATION_ERROR", recoverable=False),
        transcript={**person, "withPerson": False},
    )
    chat = Chat(visitor)
    no_violations(chat.page)
    chat.open()
    expect(chat.items).to_have_count(3)
    no_violations(chat.page)
    chat.send("Move my electricity")
    no_violations(chat.page)
    chat.send("Tomorrow")
    chat.answers.last.get_by_role("button", name="Good answer").click()
    no_violations(chat.page)
    chat.field.fill("Yes")
    chat.field.press("Enter")
    expect(chat.alert).to_have_text(
        "Your message was not answered. The bot cannot read it. Please write it differently."
    )
    expect(chat.field).to_have_value("Yes")
    no_violations(chat.page)
    chat.panel.get_by_role("button", name="Start again").click()
    no_violations(chat.page)
    visitor.troubles.clear()


def make_token(server: Server, origin: str, session: dict[str, str]) -> str:
    """A token for pages of an origin, as the manual's function makes it."""
    names: dict[str, Any] = {}
    exec(EXAMPLES["python"].replace("https://shop.example.com", origin), names)
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("BOT_URL", server.url)
        monkeypatch.setenv("BOT_KEY", server.api_key)
        return str(names["make_chat_token"](session, "C-17")["token"])


def test_the_token_of_the_manual_goes_on_with_the_conversation(server: Server) -> None:
    session: dict[str, str] = {}
    conversations = set()
    for _ in range(2):
        token = make_token(server, server.url, session)
        headers = {"Authorization": f"Bearer {token}", "Origin": server.url}
        request = urllib.request.Request(f"{server.url}/api/v1/conversation/transcript", headers=headers)
        with urllib.request.urlopen(request, timeout=30) as response:
            conversations.add(json.load(response)["conversationId"])

    assert len(conversations) == 1


def test_the_page_of_the_manual_has_the_chat(visitor: Visitor) -> None:
    """Its script, its colours, and its listener."""
    page = visitor.tab
    script = EXAMPLES["html"].replace("https://bot.example", visitor.server.url)
    parts = f"<style>{EXAMPLES['css']}</style><script>{EXAMPLES['javascript']}</script>{script}"
    html = f'<!DOCTYPE html><html lang="en"><title>Shop</title><body>{parts}</body></html>'
    page.route("**/manual-page", lambda route: route.fulfill(content_type="text/html", body=html))
    visitor.go("/manual-page")
    page.get_by_role("button", name="Open chat").click()
    with page.expect_console_message() as message:
        page.get_by_label("Your message").fill("hello")
        page.keyboard.press("Enter")
    assert message.value.args[1].json_value() == 1
    header = page.get_by_role("dialog", name="Help desk").locator("header")
    assert header.evaluate("element => getComputedStyle(element).backgroundColor") == "rgb(122, 31, 75)"
    assert header.evaluate("element => getComputedStyle(element).fontFamily") == "Georgia, serif"


def test_what_a_help_desk_writes_is_shown(visitor: Visitor) -> None:
    chat = Chat(visitor).open()
    chat.send("hello")
    conversation = chat.read_state()["conversationId"]
    visitor.server._post(f"conversation/{conversation}/handover/messages", {"text": "Good morning!", "author": "Ada"})
    chat.send("hello again")

    assert chat.list_texts()[-3:-1] == ["Good morning!", "hello again"]
    expect(chat.page.locator(".item.person")).to_have_count(1)


def test_a_strict_page_of_another_origin_needs_only_the_script(server: Server, browser: Browser) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    troubles: list[str] = []
    page.on("console", lambda message: troubles.append(message.text))
    policy = (
        f"default-src 'none'; script-src {server.url}; connect-src {server.url}; require-trusted-types-for 'script'"
    )
    with serving() as shop:
        attributes = f'data-token="{make_token(server, shop.address, {})}"'
        html = PAGE.format(language="en", server=server.url, attributes=attributes).encode()
        shop.replies[0] = Reply(body=html, headers={"Content-Type": "text/html", "Content-Security-Policy": policy})
        page.goto(shop.address)
        page.get_by_role("button", name="Open chat").click()
        page.get_by_label("Your message").fill("hello")
        page.get_by_role("button", name="Send").click()
        expect(page.locator(".item.bot:has(.rating)")).to_have_count(1)
        page.reload()
        expect(page.locator(".item.bot:has(.rating)")).to_have_count(1)

    header = page.locator("header").evaluate("element => getComputedStyle(element).backgroundColor")
    assert header == "rgb(130, 0, 219)"
    assert troubles == []
    page.close()


def test_a_page_of_another_origin_without_a_token_says_that_it_has_no_chat(server: Server, browser: Browser) -> None:
    page = browser.new_page()
    html = PAGE.format(language="de", server=server.url, attributes="").encode()
    with serving(Reply(body=html, headers={"Content-Type": "text/html"})) as shop:
        page.goto(shop.address)
        page.get_by_role("button", name="Chat öffnen").click()
        expect(page.get_by_role("alert")).to_have_text("Der Chat ist auf dieser Seite nicht verfügbar.")
    page.close()


def test_the_script_is_small() -> None:
    assert len(gzip.compress(SCRIPT.read_bytes(), 9)) <= 25 * 1024
    assert not re.search(r"innerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function", SCRIPT.read_text())


def test_a_page_changes_texts(visitor: Visitor) -> None:
    fake_server(visitor.tab)
    chat = Chat(visitor, 'data-title="Hilfe" data-text-send="Ab damit"', language="de-AT")
    expect(chat.launcher).to_have_text("Chat öffnen")
    chat.open()
    expect(chat.page.get_by_role("dialog", name="Hilfe")).to_be_visible()
    expect(chat.page.get_by_role("button", name="Ab damit")).to_be_visible()
    expect(chat.page.get_by_label("Ihre Nachricht")).to_be_focused()
    expect(chat.items).to_contain_text(["Guten Tag! Wie kann ich helfen?"])


@pytest.mark.parametrize(
    ("language", "attributes", "locale", "direction", "texts"),
    [
        ("pt-BR", "", "pt-BR", "ltr", "pt"),
        ("en", 'data-lang="nl"', "nl", "ltr", "nl"),
        ("de", 'data-lang="fr_ca"', "fr-CA", "ltr", "fr"),
        ("es-419", 'data-lang="no language"', "es-419", "ltr", "es"),
        ("pl", "", "en", "ltr", "en"),
        ("", "", "en", "ltr", "en"),
        ("pl", 'data-lang="pl"', "pl", "ltr", "en"),
        ("ar", "", "en", "ltr", "en"),
        ("en", 'data-lang="ar-EG"', "ar-EG", "rtl", "en"),
    ],
)
def test_the_language_is_that_of_the_attribute_else_of_the_page(
    visitor: Visitor, language: str, attributes: str, locale: str, direction: str, texts: str
) -> None:
    chat = Chat(visitor, attributes, language=language)
    expect(chat.launcher).to_have_text(TEXTS[texts]["open"])

    root = chat.page.locator(".root")
    assert root.evaluate("({lang, dir}) => [lang, dir]") == [locale, direction]


@pytest.mark.parametrize(
    ("language", "answer", "text"),
    [
        ("es", make_failure(413, "MESSAGE_TOO_LARGE", recoverable=False), "{refused} {tooLong}"),
        ("fr", make_failure(400, "VALIDATION_ERROR", recoverable=False), "{refused} {unreadable}"),
        ("it", make_failure(403, "FORBIDDEN", recoverable=False), "{refused} {unavailable}"),
        ("pt", make_failure(500, "CONFIG_INVALID", recoverable=False), "{refused} {broken} (CONFIG_INVALID)"),
        ("nl", {"status": 413}, "{refused} {tooLong}"),
        ("de", {"status": 422}, "{refused} {broken} (HTTP 422)"),
        ("en", make_failure(409, "DRAFT_REQUIRED", recoverable=False), "{refused} {broken} (DRAFT_REQUIRED)"),
        ("es", make_failure(401, "NOT_AUTHENTICATED", recoverable=False), "{expired}"),
    ],
)
def test_a_refused_message_is_explained_in_the_language_of_the_chat(
    visitor: Visitor, language: str, answer: dict[str, Any], text: str
) -> None:
    fake_server(visitor.tab, answer)
    chat = Chat(visitor, language=language).open()
    chat.field.fill("hello")
    chat.field.press("Enter")

    expect(chat.alert).to_have_text(text.format_map(TEXTS[language]))
    visitor.troubles.clear()


def test_a_message_that_came_too_slowly_is_sent_again(visitor: Visitor) -> None:
    messages = fake_server(visitor.tab, make_failure(408, "REQUEST_TIMEOUT", recoverable=True), make_turn(1, "Hi"))
    chat = Chat(visitor).open()
    chat.send("hello")

    assert len({request.headers["idempotency-key"] for request in messages.requests}) == 1
    visitor.troubles.clear()


@pytest.mark.parametrize(
    ("language", "asked", "entry", "text"),
    [
        ("es", {"format": "date"}, "2026-11-23", "Valores permitidos: 24 de noviembre de 2026 – 21 de febrero de 2027"),
        ("de-AT", {"format": "date", "max": None}, "2026-11-23", "Erlaubt: 24. November 2026 – …"),
        ("pt-BR", {"format": "time", "min": None, "max": "17:30:00"}, "18:00", "Valores permitidos: … – 17:30"),
        (
            "nl",
            {"format": "date-time", "min": "2026-11-24T09:00:00Z", "max": None},
            "2026-11-23T10:00",
            "Toegestaan: 24 november 2026 om 09:00 – …",
        ),
        ("it", {"type": "integer", "min": 0, "max": 10000}, "10001", "Valori ammessi: 0 – 10.000"),
        ("fr", {"format": "email", "min": None, "max": None}, "nobody", "Veuillez vérifier cette saisie."),
        ("en", {"format": "date"}, "", "Please fill in this field."),
    ],
)
def test_an_entry_is_refused_in_the_language_of_the_chat(
    visitor: Visitor, language: str, asked: dict[str, Any], entry: str, text: str
) -> None:
    messages = fake_server(visitor.tab, make_turn(1, "Which?", asked={**DAY, **asked}), make_turn(2, "Thanks"))
    chat = Chat(visitor, language=language).open()
    chat.send("hello")
    field = chat.panel.get_by_label("Day")
    field.fill(entry)
    chat.panel.locator(".offers .primary").click()
    assert field.evaluate("({validationMessage}) => validationMessage") == text
    assert len(messages.requests) == 1

    field.fill({"email": "a@example.com", "number": "7", "time": "09:00"}.get(str(field.get_attribute("type")), ""))
    if field.input_value():
        chat.panel.locator(".offers .primary").click()
        assert chat.read_answer(1) == "Thanks"


def write_longer(text: str) -> str:
    """The text with accents, and 40 % longer by one word that cannot be broken at a space."""
    accented = text.translate(str.maketrans("aeiounclstzAEIOU", "áéîöüñçłšťžÁÉÎÖÜ"))
    return f"[{accented}{'ŵ' * (2 + len(text) * 2 // 5)}]"


def write_right_to_left(text: str) -> str:
    words = " ".join("שלום עולם הודעה ארוכה מאוד"[: 3 + len(word)] for word in text.split() if "{}" not in word)
    return f"{words}! {'{}' if '{}' in text else ''}"


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize(
    ("attributes", "write", "direction"),
    [("", write_longer, "ltr"), ('data-lang="he"', write_right_to_left, "rtl")],
    ids=["longer", "right to left"],
)
def test_other_texts_break_no_layout(
    visitor: Visitor, attributes: str, write: Callable[[str], str], direction: str, width: int
) -> None:
    labels = ["Rückerstattungsangelegenheitenbearbeitungsstelle", "החזר כספי!", "No"]
    options = [{"value": label, "label": label} for label in labels]
    fake_server(
        visitor.at(width, "light").tab,
        make_turn(
            1, "مرحبا! (رقم 12345).\nIn English: see https://example.com/ now!", asked={**DAY, "options": options}
        ),
        make_turn(2, "Which day?", asked={**DAY, "format": "date"}, withPerson=True, personAnswers=True),
        make_failure(500, "CONFIG_INVALID", recoverable=False),
    )
    names = {name: re.sub("[A-Z]", lambda match: f"-{match[0].lower()}", name) for name in TEXTS["en"]}
    texts = {f"{'' if name in ('title', 'greeting') else 'text-'}{names[name]}": TEXTS["en"][name] for name in names}
    given = " ".join(f'data-{name}="{escape(write(text))}"' for name, text in texts.items())
    chat = Chat(visitor, f"{attributes} {given}")
    check_layout(chat)
    chat.open()
    for text in ("שלום, אפשר לבטל את ההזמנה?", "x"):
        chat.send(text)
        check_layout(chat)
    chat.field.fill("y")
    chat.field.press("Enter")
    expect(chat.alert).to_contain_text("(CONFIG_INVALID)")
    chat.panel.locator("header button").first.click()
    check_layout(chat)
    no_violations(chat.page)

    mine, answer = chat.page.locator(".item.user .bubble").first, chat.answers.first.locator(".bubble")
    log, edge = chat.log.bounding_box(), mine.bounding_box()
    assert log
    assert edge
    is_mine_left = edge["x"] - log["x"] < log["x"] + log["width"] - edge["x"] - edge["width"]
    assert is_mine_left == (direction == "rtl")
    # Each message reads in the direction of its own language, and an address always from left to right.
    assert [bubble.evaluate("bubble => getComputedStyle(bubble).direction") for bubble in (mine, answer)] == ["rtl"] * 2
    assert answer.locator("a").evaluate("link => getComputedStyle(link).direction") == "ltr"
    visitor.troubles.clear()


def check_layout(chat: Chat) -> None:
    """Nothing is outside the window, and nothing in the panel is cut off."""
    assert chat.visitor.fits
    outside = chat.page.locator(".root").evaluate(
        """root => [...root.querySelectorAll("*")]
            .filter((each) => !each.closest(".unseen"))
            .filter((each) => {
                const {left, right} = each.getBoundingClientRect();
                const isCut = getComputedStyle(each).overflowX !== "visible" && each.scrollWidth > each.clientWidth + 1;
                return left < -1 || right > innerWidth + 1 || isCut;
            })
            .map(({localName, className}) => `${localName}.${className}`)"""
    )
    assert outside == []


@pytest.mark.parametrize(
    ("asked", "kind", "bounds"),
    [
        ({"format": "date", "min": "2026-11-24", "max": "2027-02-21"}, "date", ("2026-11-24", "2027-02-21")),
        ({"format": "time", "min": "09:00:00", "max": None}, "time", ("09:00", None)),
        ({"format": "date-time", "min": "2026-11-24T09:00:00Z"}, "datetime-local", ("2026-11-24T09:00", None)),
        ({"format": "email"}, "email", (None, None)),
        ({"format": "phone"}, "tel", (None, None)),
        ({"format": None, "type": "integer", "min": 0, "max": 9}, "number", ("0", "9")),
    ],
)
def test_a_field_has_the_input_that_fits(
    visitor: Visitor, asked: dict[str, Any], kind: str, bounds: tuple[str | None, str | None]
) -> None:
    fake_server(visitor.tab, make_turn(1, "Which?", asked={**DAY, "min": None, "max": None, **asked}))
    chat = Chat(visitor).open()
    chat.send("hello")
    entry = chat.panel.get_by_label("Day")

    assert entry.evaluate("({type, min, max}) => [type, min || null, max || null]") == [kind, *bounds]
    expect(chat.field).to_be_focused()


def test_choices_are_buttons_that_go_when_another_question_is_asked(visitor: Visitor) -> None:
    choices = [{"value": "REFUND", "label": "Get a refund"}, {"value": "CANCEL", "label": "Cancel an order"}]
    messages = fake_server(visitor.tab, make_turn(1, "Which?", choices=choices), make_turn(2, "All right."))
    chat = Chat(visitor).open()
    chat.send("order")
    expect(chat.page.get_by_role("status").last).to_have_text("Answers to choose from: Get a refund, Cancel an order")
    chat.press("Get a refund")

    assert messages.requests[1].post_data_json == {"message": "Get a refund"}
    expect(chat.panel.locator(".offers button")).to_have_count(0)
    expect(chat.field).to_be_focused()


def test_a_busy_server_is_asked_again_with_the_same_key(visitor: Visitor) -> None:
    busy = make_failure(503, "SERVER_OVERLOADED", recoverable=True)
    messages = fake_server(
        visitor.tab, busy, make_failure(503, "SERVER_OVERLOADED", recoverable=True), make_turn(1, "Hi")
    )
    chat = Chat(visitor).open()
    chat.field.fill("hello")
    chat.field.press("Enter")
    expect(chat.alert).to_have_text("The server is busy. Trying again …")
    chat.read_answer(0)

    assert len({request.headers["idempotency-key"] for request in messages.requests}) == 1
    assert len(messages.requests) == 3
    visitor.troubles.clear()


CROWDED = make_failure(429, "THROTTLED", recoverable=True)
TOKEN = {"token": "of-a-test", "conversationId": CONVERSATION}


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("chat/token", TOKEN),
        ("conversation/transcript", make_transcript()),
        ("conversation/message", make_turn(1, "Hi")),
    ],
)
def test_where_many_people_write_the_chat_says_so_after_three_seconds(
    visitor: Visitor, path: str, answer: dict[str, Any]
) -> None:
    page = visitor.tab
    fake_server(page, make_turn(1, "Hi"))
    answers = Answers(page, path, CROWDED, CROWDED, CROWDED, {"status": 200, **answer})
    chat = Chat(visitor).open()
    chat.field.fill("hello")
    chat.field.press("Enter")
    expect(chat.alert).to_have_text("Many people are writing right now. One moment, please.")
    expect(chat.alert).to_have_class("alert is-quiet")
    chat.read_answer(0)

    expect(chat.alert).to_be_empty()
    assert len(answers.requests) == 4
    visitor.troubles.clear()


def test_a_server_that_fails_for_long_is_asked_again_by_a_button(visitor: Visitor) -> None:
    page = visitor.tab
    page.clock.install()
    messages = fake_server(page, {"status": 500})
    chat = Chat(visitor).open()
    chat.field.fill("hello")
    chat.field.press("Enter")
    expect(chat.page.locator(".typing")).to_be_visible()
    for _ in range(12):
        page.clock.run_for(15_000)
        page.wait_for_timeout(50)
    expect(chat.alert).to_contain_text("The server does not answer. Nothing is lost.")
    messages.answers = [make_turn(1, "Hi")]
    chat.alert.get_by_role("button", name="Try again").click()
    chat.read_answer(0)

    assert len({request.headers["idempotency-key"] for request in messages.requests}) == 1
    assert chat.list_texts()[1:] == ["hello", "Hi"]
    visitor.troubles.clear()


def test_a_chat_that_is_not_available_gives_the_message_back(visitor: Visitor) -> None:
    fake_server(visitor.tab)
    Answers(visitor.tab, "chat/token", make_failure(404, "NOT_FOUND", recoverable=False))
    chat = Chat(visitor).open()
    expect(chat.alert).to_have_text("The chat is not available on this page.")
    chat.field.fill("hello")
    chat.field.press("Enter")
    expect(chat.field).to_have_value("hello")
    expect(chat.items).to_have_count(1)
    expect(chat.alert).to_have_text("The chat is not available on this page.")
    visitor.troubles.clear()


def test_a_page_of_another_person_shows_nothing_of_the_one_before(visitor: Visitor) -> None:
    """The page's server gave a token for another conversation: also the unsent message of the tab is dropped."""
    page = visitor.tab
    messages = fake_server(page, make_turn(1, "Hi"))
    chat = Chat(visitor, 'data-token-url="/my/token"', path="/shop")
    page.route("**/my/token", lambda route: route.fulfill(json={"token": "of-a-test", "conversationId": CONVERSATION}))
    chat.open()
    chat.send("hello")
    page.evaluate(
        """() => {
            const [name, text] = Object.entries(sessionStorage)[0];
            const pending = {key: "of-before", body: {message: "secret"}, at: Date.now()};
            sessionStorage.setItem(name, JSON.stringify({...JSON.parse(text), pending}));
        }"""
    )
    other = {**make_transcript(make_message(1, "bot", "Welcome")), "conversationId": CONVERSATION.replace("5d", "6e")}
    Answers(page, "conversation/transcript", other)
    page.reload()
    expect(chat.answers).to_have_count(1)

    assert chat.list_texts()[1:] == ["Welcome"]
    assert chat.field.input_value() == ""
    assert len(messages.requests) == 1


def test_an_expired_token_is_renewed_once(visitor: Visitor) -> None:
    expired = make_failure(401, "NOT_AUTHENTICATED", recoverable=False)
    messages = fake_server(visitor.tab, expired, make_turn(1, "Hi"), expired, expired)
    chat = Chat(visitor).open()
    assert chat.send("hello") == "Hi"
    chat.field.fill("and now?")
    chat.field.press("Enter")
    expect(chat.alert).to_have_text("This chat has expired. Reload the page to continue.")

    assert len(messages.requests) == 4
    visitor.troubles.clear()


def test_the_next_message_after_an_end_begins_a_new_conversation_by_itself(visitor: Visitor) -> None:
    closed = make_failure(409, "CONVERSATION_CLOSED", recoverable=False)
    messages = fake_server(visitor.tab, make_turn(1, "Done."), closed, make_turn(1, "Hi"))
    chat = Chat(visitor).open()
    chat.send("that is all")
    Answers(visitor.tab, "chat/token", {"token": "next", "conversationId": OTHER_CONVERSATION})
    Answers(visitor.tab, "conversation/transcript", {**make_transcript(), "conversationId": OTHER_CONVERSATION})
    messages.answers = [closed, {**make_turn(1, "Hi"), "conversationId": OTHER_CONVERSATION}]
    chat.field.fill("hello")
    chat.field.press("Enter")
    expect(chat.items.last).to_contain_text("Hi")

    expect(chat.alert).to_be_empty()
    assert chat.list_texts()[-4:] == ["that is all", "Done.", "hello", "Hi"]
    # Only answers of the conversation that goes on can be rated.
    assert chat.answers.count() == 1
    assert [request.post_data_json["message"] for request in messages.requests] == ["that is all", "hello", "hello"]
    assert len({request.headers["idempotency-key"] for request in messages.requests}) == 3
    assert messages.requests[-1].headers["authorization"] == "Bearer next"
    visitor.troubles.clear()


@pytest.mark.parametrize("attributes", ['data-token="of-the-page"', ""], ids=["its only token", "the same again"])
def test_an_end_that_nothing_follows_is_no_error(visitor: Visitor, attributes: str) -> None:
    closed = make_failure(409, "CONVERSATION_CLOSED", recoverable=False)
    fake_server(visitor.tab, make_turn(1, "Done.", withPerson=True), closed)
    chat = Chat(visitor, attributes).open()
    chat.send("that is all")
    chat.field.fill("hello")
    chat.field.press("Enter")

    expect(chat.alert).to_have_text("This conversation has ended.")
    expect(chat.alert).to_have_class("alert is-quiet")
    expect(chat.field).to_have_value("hello")
    expect(chat.panel.locator(".with-person")).to_be_hidden()
    visitor.troubles.clear()


@pytest.mark.long
@pytest.mark.parametrize("phrase", ["forget it", "never mind", "drop it please", "goodbye", "I changed my mind"])
def test_a_wish_to_stop_asks_and_the_conversation_goes_on(visitor: Visitor, phrase: str) -> None:
    chat = Chat(visitor).open()
    chat.send("I want to move my electricity")
    asked = chat.send("meter 12345678, 12 Mill Lane")
    assert chat.send(phrase).startswith("Do you want to stop?")
    chat.page.reload()
    expect(chat.answers).to_have_count(3)
    assert chat.press("no") == asked
    chat.send(phrase)
    assert chat.press("yes") == "All right, I have dropped that."

    assert chat.send("u deliver to france?").startswith("Orders from the shop arrive")
    expect(chat.alert).to_be_empty()
    assert len(chat.list_turns()) == 7


@pytest.mark.long
@pytest.mark.parametrize("phrase", ["never mind", "stop", "forget it"])
def test_words_that_end_the_conversation_begin_another_with_the_next_message(visitor: Visitor, phrase: str) -> None:
    chat = Chat(visitor).open()
    chat.send("u deliver to france?")
    chat.send(phrase)
    before = chat.read_state()["conversationId"]
    chat.field.fill("hello")
    chat.field.press("Enter")
    expect(chat.items.last).to_contain_text("I am the help desk")

    expect(chat.alert).to_be_empty()
    assert chat.read_state()["conversationId"] != before
    assert chat.list_texts()[-2] == "hello"
    # The browser reports the end that the chat went on from.
    assert all("409" in trouble for trouble in visitor.troubles)
    visitor.troubles.clear()


@pytest.mark.long
def test_days_that_the_bot_names_are_buttons(visitor: Visitor) -> None:
    chat = Chat(visitor).open()
    chat.send("I want to move my electricity")
    chat.send("meter 12345678, 12 Mill Lane, a@example.com, Solo")
    expect(chat.panel.locator(".offers input")).to_have_attribute("type", "date")
    asked = chat.send("tomorrow or the day after tomorrow")
    buttons = chat.panel.locator(".offers button").all_inner_texts()

    assert len(buttons) == 2
    assert all(button in asked for button in buttons)
    expect(chat.panel.locator(".offers input")).to_have_count(0)
    assert buttons[1] in chat.press(buttons[1])


@pytest.mark.long
@pytest.mark.parametrize("words", ["forget it", "scrap it", "let's leave it"])
def test_nothing_goes_on_after_an_order_was_not_cancelled(visitor: Visitor, words: str) -> None:
    chat = Chat(visitor).open()
    chat.send("cancel order 51007")
    chat.send(words)

    expect(chat.panel.locator(".offers")).to_be_hidden()
    assert "Let us go on" not in chat.send("u deliver to france?")


def test_what_a_person_writes_is_shown_and_counted_while_the_panel_is_closed(visitor: Visitor) -> None:
    page = visitor.tab
    fake_server(page, make_turn(1, "I pass you on.", withPerson=True, personAnswers=False))
    chat = Chat(visitor).open()
    chat.send("a person, please")
    expect(chat.panel).to_contain_text("Your message was passed on")
    expect(chat.panel).not_to_contain_text("A person is answering you")
    good_morning = make_message(2, "person", "Good morning!")
    transcript = make_transcript(good_morning, withPerson=True, personAnswers=True)
    Answers(page, "conversation/transcript", transcript)
    expect(chat.panel).to_contain_text("A person is answering you")
    expect(chat.page.locator(".item.person")).to_have_text("StaffGood morning!", use_inner_text=False)
    chat.page.keyboard.press("Escape")
    Answers(page, "conversation/transcript", make_transcript(make_message(3, "person", "Solved."), withPerson=False))
    expect(chat.launcher).to_have_text(re.compile("Open chat.*1 new message$"))
    chat.launcher.click()
    expect(chat.launcher).to_have_text(re.compile("Close chat"))
    expect(chat.panel.get_by_text("A person is answering you")).to_be_hidden()

    assert chat.list_texts()[-2:] == ["Good morning!", "Solved."]


@pytest.mark.parametrize(
    ("report", "notice"),
    [
        ({"withPerson": True}, "Your message was passed on"),
        ({"withPerson": True, "personAnswers": False}, "Your message was passed on"),
        ({"withPerson": True, "personAnswers": True}, "A person is answering you"),
        ({"withPerson": False, "personAnswers": True}, ""),
    ],
)
def test_the_notice_says_who_has_the_conversation_also_after_a_reload(
    visitor: Visitor, report: dict[str, bool], notice: str
) -> None:
    fake_server(visitor.tab, make_turn(1, "I pass you on.", **report))
    chat = Chat(visitor).open()
    line = chat.panel.locator(".with-person")
    chat.send("a person, please")
    expect(line).to_have_text(notice)
    Answers(visitor.tab, "conversation/transcript", make_transcript(make_message(1, "bot", "I pass you on."), **report))
    chat.page.reload()
    expect(chat.answers).to_have_count(1)

    expect(line).to_have_text(notice)
    expect(line).to_be_visible(visible=bool(notice))


_DESK = """
from config_admin.models import CeConfig
CeConfig.objects.filter(config_type="HandOverStep", config_key="HAS_DESK").delete()
if {has_desk}: CeConfig.objects.create(config_type="HandOverStep", config_key="HAS_DESK", config_value="true")
"""


@pytest.mark.long
def test_a_person_answers_from_their_first_message_on_until_the_conversation_is_given_back(visitor: Visitor) -> None:
    server = visitor.server
    server.manage("shell", "-v0", "-c", _DESK.format(has_desk=True))
    try:
        chat = Chat(visitor).open()
        line = chat.panel.locator(".with-person")
        for wish in ("human", "talk to a human please", "your manager"):
            chat.send("I want to move my electricity")
            chat.send(wish)
            expect(line).to_have_text("Your message was passed on")
            chat.send("is anybody there?")
            expect(line).to_have_text("Your message was passed on")
            desk = f"conversation/{chat.read_state()['conversationId']}/handover"
            server._post(f"{desk}/messages", {"text": f"Ada here, about: {wish}", "author": "Ada"})
            expect(line).to_have_text("A person is answering you")
            expect(chat.page.locator(".item.person").last).to_contain_text(f"Ada here, about: {wish}")
            server._post(f"{desk}/end", {"author": "Ada"})
            expect(line).to_be_hidden()
    finally:
        server.manage("shell", "-v0", "-c", _DESK.format(has_desk=False))


def test_keys_lead_between_list_and_field(visitor: Visitor) -> None:
    long_text = "line\n" * 200
    fake_server(visitor.tab, make_turn(1, long_text))
    chat = Chat(visitor).open()
    chat.send("hello")
    keyboard = chat.page.keyboard
    top = chat.log.evaluate("log => log.scrollTop")
    keyboard.press("PageDown")
    chat.page.wait_for_function(
        "top => document.querySelector('convengine-chat').shadowRoot.querySelector('.log').scrollTop > top", arg=top
    )
    expect(chat.field).to_be_focused()
    keyboard.press("ArrowUp")
    expect(chat.log).to_be_focused()
    keyboard.press("h")
    expect(chat.field).to_be_focused()
    expect(chat.field).to_have_value("h")
    keyboard.press("Shift+Enter")
    expect(chat.field).to_have_value("h\n")


def test_only_new_answers_are_live(visitor: Visitor) -> None:
    past = make_transcript(make_message(1, "user", "Hi"), make_message(1, "bot", "Hello"))
    fake_server(visitor.tab, make_turn(2, "New"), transcript=past)
    chat = Chat(visitor).open()
    expect(chat.items).to_have_count(3)
    chat.send("more")

    live = chat.items.evaluate_all("items => items.map((item) => item.ariaLive)")
    assert live == ["off", "off", "off", "off", None]


def test_nothing_is_lost_at_four_hundred_percent(visitor: Visitor) -> None:
    options = [{"value": name, "label": name * 8} for name in ("Washer ", "Dishwasher ", "Dryer ")]
    fake_server(visitor.tab, make_turn(1, "Which?", asked={**DAY, "options": options}))
    visitor.tab.set_viewport_size({"width": 320, "height": 256})
    chat = Chat(visitor).open()
    chat.send("hello")

    assert chat.panel.evaluate("panel => panel.scrollWidth <= panel.clientWidth && panel.clientWidth <= 320")
    expect(chat.field).to_be_in_viewport()
    chat.tab_to(chat.panel.locator(".offers button").first)
    expect(chat.panel.locator(".offers button").first).to_be_in_viewport()
    sizes = chat.panel.locator("button, input, textarea").evaluate_all(
        "all => all.map((one) => one.getBoundingClientRect()).flatMap(({width, height}) => [width, height])"
    )
    assert min(sizes) >= 24


def test_the_chat_fills_an_element(visitor: Visitor) -> None:
    fake_server(visitor.tab)
    chat = Chat(visitor, 'data-target="#place" data-scheme="dark"')
    expect(chat.page.get_by_role("region", name="Chat")).to_be_visible()
    expect(chat.launcher).to_have_count(0)
    expect(chat.field).not_to_be_focused()
    chat.field.press("Escape")

    expect(chat.panel).to_be_visible()
    assert chat.panel.evaluate("element => getComputedStyle(element).backgroundColor") == "rgb(27, 31, 36)"


def test_an_open_panel_takes_no_focus_and_stays_closed_once_closed(visitor: Visitor) -> None:
    fake_server(visitor.tab)
    chat = Chat(visitor, "data-open")
    expect(chat.panel).to_be_visible()
    expect(chat.field).not_to_be_focused()
    chat.panel.get_by_role("button", name="Close chat").click()
    chat.page.reload()

    expect(chat.launcher).to_have_attribute("aria-expanded", "false")


def test_nothing_is_asked_of_the_server_before_the_chat_is_opened(visitor: Visitor) -> None:
    requests: list[str] = []
    visitor.tab.on("request", lambda request: requests.append(request.url))
    chat = Chat(visitor)
    expect(chat.launcher).to_be_visible()

    assert [url for url in requests if "/api/" in url] == []
    chat.open()
    chat.page.keyboard.press("Escape")
    chat.page.reload()
    expect(chat.launcher).to_have_attribute("aria-expanded", "false")


def test_a_token_of_the_pages_own_server_is_asked_for(visitor: Visitor) -> None:
    page = visitor.tab
    messages = fake_server(page, make_turn(1, "Hi"))
    bodies: list[Any] = []

    def give_token(route: Route) -> None:
        bodies.append(route.request.post_data_json)
        route.fulfill(json={"token": f"token-{len(bodies)}", "conversationId": CONVERSATION})

    page.route("**/my/token", give_token)
    chat = Chat(visitor, 'data-token-url="/my/token"').open()
    chat.send("hello")
    assert messages.requests[0].headers["authorization"] == "Bearer token-1"
    page.reload()
    expect(chat.field).to_be_visible()
    page.wait_for_function("JSON.parse(Object.values(sessionStorage)[0]).token === 'token-2'")

    assert bodies == [{"token": None, "ended": False}, {"token": "token-1", "ended": False}]


def test_the_page_hears_of_each_answer(visitor: Visitor) -> None:
    fake_server(visitor.tab, make_turn(1, "Hi"))
    chat = Chat(visitor).open()
    chat.page.evaluate("document.addEventListener('convengine:answer', (event) => { window.heard = event.detail; })")
    chat.send("hello")

    assert chat.page.evaluate("window.heard") == {
        "conversationId": CONVERSATION,
        "turnNo": 1,
        "turnId": str(UUID(int=1)),
    }


@pytest.mark.long
def test_a_flow_that_is_switched_off_is_not_begun_and_goes_on_where_somebody_is_in_it(
    visitor: Visitor, somebody: Callable[[], Visitor]
) -> None:
    inside = Chat(visitor).open()
    asked = inside.send("I want to move my electricity")
    ben = somebody().log_in("analyst").go("/admin/config_admin/ceintent/MOVE_CONNECTION/flow/")
    ben.page.get_by_role("button", name="Switch off").click()
    expect(ben.page.get_by_role("button", name="Switch on")).to_be_visible()
    try:
        outside = Chat(somebody()).open()
        assert outside.send("I want to move my electricity") != asked
        finished = inside.send("meter 12345678, 12 Mill Lane, a@example.com, Solo, tomorrow")
        assert finished.startswith("Please check"), finished
    finally:
        ben.page.get_by_role("button", name="Switch on").click()
    expect(ben.page.get_by_role("button", name="Switch off")).to_be_visible()
    assert outside.send("I want to move my electricity") == asked
