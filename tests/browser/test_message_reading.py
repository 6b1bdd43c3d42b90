"""The page of a turn shows how its message was read, and leads from an unknown word to a form that has it filled in."""

import re
from collections.abc import Callable
from typing import Literal

import pytest
from playwright.sync_api import expect

from tests.browser.axe import no_violations
from tests.browser.conftest import Server, Visitor

pytestmark = pytest.mark.browser
_WORLD = "from tests.worlds import create_pizza_form; create_pizza_form()"
SAID = (
    "a pizza party",
    "maybe the 28th",
    "yes",
    "tartan please",
    "a large one for rollerblade fans",
    "no wait, the 27th",
    "size: huge and guests 30",
)


@pytest.fixture(scope="module")
def conversation(server: Server) -> str:
    server.manage("shell", "-v0", "-c", _WORLD)
    key = server.say(SAID[0])["conversationId"]
    for text in SAID[1:]:
        server.say(text, key)
    return str(key)


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), pytest.param(390, "dark", marks=pytest.mark.nightly)])
def test_a_word_says_what_it_is_and_an_unknown_one_becomes_a_synonym(
    conversation: str, somebody: Callable[[], Visitor], width: int, scheme: Literal["light", "dark"]
) -> None:
    analyst = somebody().log_in("admin")
    tab = analyst.tab
    tab.set_viewport_size({"width": width, "height": 850})
    tab.emulate_media(color_scheme=scheme)

    analyst.go(f"/admin/audit/ceaudit/{conversation}/turn/2/")
    reading = tab.get_by_role("region", name="How the message was read")
    expect(reading.locator(".ce-mark-offered").first).to_contain_text("the 28th")
    expect(reading.get_by_role("list", name="Values")).to_contain_text("so the bot asks first")
    no_violations(tab)

    analyst.go(f"/admin/audit/ceaudit/{conversation}/turn/4/")
    words = tab.get_by_role("list", name="Words that were not understood")
    words.get_by_role("link", name="Small", exact=True).focus()
    tab.keyboard.press("Enter")
    expect(tab.get_by_text("“tartan” is filled in as a synonym of “Small”.")).to_be_visible()
    expect(tab.locator("#id_json_schema")).to_have_value(re.compile("tartan"))
