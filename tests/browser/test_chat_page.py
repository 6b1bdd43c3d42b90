"""The page with the chat, where `make demo` leads: one talks, and sees why the bot answered as it did."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.axe import no_violations
from tests.browser.conftest import Visitor
from tests.browser.pictures import picture

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(
    ("width", "scheme", "order"),
    [(1280, "light", "48392"), pytest.param(390, "dark", "51007", marks=pytest.mark.nightly)],
)
def test_beside_the_chat_stands_why_the_bot_answered_so(
    somebody: Callable[[], Visitor], width: int, scheme: str, order: str
) -> None:
    reader = somebody().log_in("qa").at(width, scheme).go("/chat/")
    field, why = reader.tab.locator("#field"), reader.tab.locator("[data-why]")
    ratings = reader.tab.locator(".rating")
    for count, text in enumerate(("I want to cancel my order", order, "are you open on Saturday?"), start=1):
        field.fill(text)
        field.press("Enter")
        expect(ratings).to_have_count(count)

    expect(why).to_contain_text("Answered a question in between")
    assert reader.fits
    no_violations(reader.tab)
    if width == 1280:
        picture(reader.tab, "chat/demo")

    reader.tab.get_by_role("button", name="yes", exact=True).click()
    expect(why).to_contain_text("Turn 4")
    expect(why).to_contain_text("cancel the order")
    why.get_by_role("link", name="All of this turn").click()
    reader.tab.wait_for_url("**/turn/4/")


def test_who_is_not_signed_in_sees_the_logins_of_the_demonstration(somebody: Callable[[], Visitor]) -> None:
    visitor = somebody().go("/chat/")

    expect(visitor.tab.get_by_role("cell", name="analyst", exact=True)).to_be_visible()
    visitor.tab.get_by_role("link", name="Sign in").click()
    visitor.tab.get_by_label("Username").fill("qa")
    visitor.tab.get_by_label("Password").fill(visitor.server.passwords["qa"])
    visitor.tab.get_by_role("button", name="Log in").click()

    visitor.tab.wait_for_url("**/chat/")
    expect(visitor.tab.locator("[data-why]")).to_be_visible()
