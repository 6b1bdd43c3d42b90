"""What a page shows first on a phone, how long it is there, and the colours that the chat and the admin share."""

from collections.abc import Callable

import pytest

from tests.browser.conftest import Server, Visitor

pytestmark = [pytest.mark.browser, pytest.mark.long]
SAID = ("Hello", "cancel my order", "48392", "no", "how long does the delivery take", "my cvv is 123")
#: In pixels, on a screen of 900: a longer page has pages or folds, and filters leave the most of the screen to results.
LONGEST_PAGE, TALLEST_FILTERS = 5_000, 340
HEIGHT = "document.documentElement.scrollHeight"
#: A colour as it is drawn, whatever notation it is written in.
DRAWN = """(() => {{
    const context = document.createElement("canvas").getContext("2d");
    context.fillStyle = {};
    context.fillRect(0, 0, 1, 1);
    return [...context.getImageData(0, 0, 1, 1).data].join();
}})()"""


@pytest.fixture(scope="module")
def conversation(server: Server) -> str:
    key = str(server.say(SAID[0])["conversationId"])
    for text in (*SAID[1:], *["a galosh, please"] * 20):
        server.say(text, key)
    server.count_turns()
    return key


@pytest.mark.parametrize(
    "path", ["{key}/turn/2/", "{key}/turn/3/", "{key}/timeline/", "{key}/compare/", "find/", "week/", "inbox/"]
)
def test_a_page_is_not_endless_on_a_phone(conversation: str, ada: Visitor, path: str) -> None:
    page = ada.at(390, "light").go(f"/admin/audit/ceaudit/{path.format(key=conversation)}").page
    assert page.evaluate(HEIGHT) <= LONGEST_PAGE
    assert ada.fits


def test_the_steps_of_a_turn_are_folded(conversation: str, ada: Visitor) -> None:
    page = ada.at(390, "light").go(f"/admin/audit/ceaudit/{conversation}/turn/2/").page
    folded = page.evaluate("[...document.querySelectorAll('#main details')].filter(each => !each.open).length")
    assert folded >= 3


@pytest.mark.parametrize("path", ["find/", "reports/"])
def test_filters_are_a_line_and_the_rest_is_folded(conversation: str, ada: Visitor, path: str) -> None:
    page = ada.at(390, "light").go(f"/admin/audit/ceaudit/{path}").page
    box = page.locator("#main form").first.bounding_box()
    assert box
    assert box["height"] <= TALLEST_FILTERS


def test_the_chat_has_the_colour_of_the_admin(ada: Visitor, somebody: Callable[[], Visitor]) -> None:
    admin = ada.go("/admin/audit/ceaudit/find/").page
    link = admin.evaluate(DRAWN.format("getComputedStyle(document.querySelector('#main .ce-link')).color"))
    chat = somebody().go("/chat/").page
    chat.wait_for_function("[...document.querySelectorAll('*')].some(each => each.shadowRoot?.querySelector('header'))")
    header = "[...document.querySelectorAll('*')].find(each => each.shadowRoot).shadowRoot.querySelector('header')"
    assert chat.evaluate(DRAWN.format(f"getComputedStyle({header}).backgroundColor")) == link
