"""Finding turns as a QA person does: by mouse with the manual's pictures, by keyboard, narrow, and without a script."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.axe import no_violations
from tests.browser.conftest import SCREENS, Server, Visitor
from tests.browser.pictures import picture

pytestmark = pytest.mark.browser
ANNA, BEN = "+491609990001", "+491609990002"
FIND = "/admin/audit/ceaudit/find/"


@pytest.fixture(scope="module")
def customers(server: Server) -> str:
    """Two people who wrote; gives the conversation of the first."""
    for text in ("Hello", "cancel my order", "48392", "no"):
        told = server.say_as(ANNA, text)
    for text in ("my cvv is 123", "how long does the delivery take", *["a galosh, please"] * 52):
        server.say_as(BEN, text)
    return str(told["session_id"])


@pytest.fixture
def quinn(somebody: Callable[[], Visitor]) -> Visitor:
    return somebody().log_in("qa")


def test_a_turn_is_found_told_on_and_kept(customers: str, quinn: Visitor, somebody: Callable[[], Visitor]) -> None:
    tab = quinn.page
    tab.set_viewport_size({"width": 1360, "height": 850})
    tab.get_by_role("link", name="Conversations", exact=True).first.click()
    expect(tab.get_by_role("heading", name="Newest turns")).to_be_visible()
    lines = tab.locator(".ce-found-turns tbody tr")
    tab.get_by_label("Words").fill("CANCEL")
    tab.get_by_label("Participant").fill(ANNA)
    tab.get_by_label("Intent", exact=True).fill("cancel_order")
    tab.get_by_role("button", name="Find", exact=True).click()

    expect(lines.first.locator("mark").first).to_have_text(re.compile("cancel", re.IGNORECASE))
    expect(tab.get_by_label("Filters").get_by_role("listitem")).to_have_count(3)
    picture(tab, "reading/find")
    no_violations(tab)
    address = tab.url
    assert address.endswith(f"?q=CANCEL&participant=%2B{ANNA[1:]}&intent=cancel_order")

    tab.get_by_label("Name of the search").fill("Anna cancels")
    tab.get_by_label("Share with everyone who may search turns").check()
    tab.get_by_role("button", name="Save search", exact=True).click()
    expect(tab.get_by_text("The search is saved as “Anna cancels”.")).to_be_visible()

    other = somebody().log_in("analyst")
    other.go(address.removeprefix(quinn.server.url))
    expect(other.page.locator(".ce-found-turns tbody tr")).to_have_count(lines.count())
    other.go(FIND).page.get_by_role("link", name="Anna cancels").click()
    expect(other.page).to_have_url(address)
    expect(other.page.get_by_role("button", name="Delete the search Anna cancels")).to_have_count(0)

    tab.get_by_role("button", name="Delete the search Anna cancels").click()
    expect(tab.get_by_text("The search “Anna cancels” was deleted.")).to_be_visible()
    tab.get_by_role("link", name="Remove the filter Words").click()
    expect(lines.filter(has_text="48392")).to_have_count(1)
    lines.filter(has_text="48392").get_by_role("link", name=customers[:8], exact=True).click()
    expect(tab.locator("#turn-3")).to_be_in_viewport()


@pytest.mark.long
def test_from_what_decided_to_its_turns(customers: str, ada: Visitor) -> None:
    tab = ada.tab
    ada.go(f"{FIND}?participant=%2B{BEN[1:]}&status=BLOCKED")
    expect(tab.locator(".ce-found-turns tbody tr")).to_have_count(1)
    ada.open_response("two to four working days").page.get_by_role("link", name="Turns that used it").click()
    expect(tab.locator(".ce-found-turns tbody tr", has_text="how long does the delivery take").first).to_be_visible()
    expect(tab.get_by_label("Kind of row", exact=True)).to_have_value("ce_response")

    ada.go("/admin/config_admin/cerelease/").page.locator("#result_list tbody th a").first.click()
    tab.get_by_role("link", name="Turns with this release").click()
    expect(tab.locator(".ce-found-turns tbody tr").first).to_be_visible()


@pytest.mark.long
@SCREENS
def test_pages_errors_and_nothing_found_by_keyboard(customers: str, quinn: Visitor, width: int, scheme: str) -> None:
    tab = quinn.at(width, scheme).go(FIND).page
    quinn.tab_to(tab.get_by_label("Words"))
    tab.keyboard.type("gal*")
    press_enter(quinn)
    lines = tab.locator(".ce-found-turns tbody tr")
    expect(lines).to_have_count(15)
    assert quinn.fits
    older = ("Older ›", 15)
    for name, count in (older, older, ("Older ›", 7), ("‹ Newer", 15), ("« Newest", 15)):
        tab.get_by_role("link", name=name).focus()
        press_enter(quinn)
        expect(lines).to_have_count(count)

    quinn.go(f"{FIND}?q=%3F%3F&since=soon&row=17")
    assert all(
        words in quinn.text
        for words in (
            "3 filters are not valid",
            "Enter letters or digits",
            "This is not a valid time",
            "Choose the type of the row",
        )
    )
    assert quinn.fits
    no_violations(tab)
    # Invalid filters are answered with 400.
    assert all("400" in trouble for trouble in quinn.troubles)
    quinn.troubles.clear()
    quinn.go(f"{FIND}?intent=NOBODY&ms=99999999")
    assert "No turn matches all filters." in quinn.text
    assert "The current configuration does not have the intent NOBODY." in quinn.text
    assert quinn.fits
    no_violations(tab)
    quinn.at(500, scheme).go(f"{FIND}?q=gal*&show=conversations")
    expect(lines).to_have_count(1)
    assert quinn.fits


def test_it_finds_where_no_script_runs(customers: str, server: Server, browser: Browser) -> None:
    context = browser.new_context(java_script_enabled=False)
    plain = Visitor(server, context.new_page()).log_in("qa")
    plain.go(FIND).page.get_by_label("Words").fill("galosh")
    with plain.page.expect_navigation():
        plain.page.get_by_role("button", name="Find", exact=True).click()
    expect(plain.page.locator(".ce-found-turns tbody tr")).to_have_count(15)
    assert plain.troubles == []
    context.close()


def press_enter(visitor: Visitor) -> None:
    with visitor.page.expect_navigation():
        visitor.page.keyboard.press("Enter")
