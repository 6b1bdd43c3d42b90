"""Finding one's way: the places of the sidebar and the first page, by mouse and by keyboard, wide and narrow."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import SCREENS, Visitor

pytestmark = [pytest.mark.browser, pytest.mark.long]
PLACES = [
    *("Home", "Intents", "Rules & settings", "Answers", "Actions & tools", "Try & test", "Releases"),
    *("Conversations", "Reports", "More"),
]


def links(visitor: Visitor) -> list[str]:
    """What the sidebar offers, without the icons."""
    return [text.split("\n")[-1] for text in visitor.page.locator(".ce-nav a:visible").all_inner_texts()]


def test_an_analyst_finds_these_places_and_no_more(somebody: Callable[[], Visitor]) -> None:
    ben = somebody().log_in("analyst")
    ben.page.set_viewport_size({"width": 1280, "height": 800})

    assert links(ben) == PLACES
    for place in PLACES[:-1]:  # *More* is long, and may scroll.
        ben.page.locator(".ce-nav").get_by_role("link", name=place, exact=True).first.click()
        assert ben.page.locator(".ce-nav").evaluate("nav => nav.scrollHeight <= nav.clientHeight"), place
    ben.page.locator(".ce-nav").get_by_role("link", name="More").click()
    ben.page.locator(".ce-nav a").last.click()
    expect(ben.page.locator('.ce-nav [aria-current="page"]')).to_be_in_viewport()
    ben.go("/admin/")
    expect(ben.page.get_by_role("heading", name="Home", exact=True)).to_be_visible()


@SCREENS
def test_a_place_opens_its_first_page_and_lists_the_others(
    somebody: Callable[[], Visitor], width: int, scheme: str
) -> None:
    ben = somebody().log_in("analyst").at(width, scheme)
    for name in ("Rules & settings", "All settings"):
        if width < 1000:
            ben.page.get_by_role("button", name="Places").click()
        ben.page.locator(".ce-nav").get_by_role("link", name=name).click()

    if width < 1000:
        ben.page.get_by_role("button", name="Places").click()
    here = ben.page.locator('.ce-nav [aria-current="page"]')
    expect(here).to_have_text("All settings")
    assert links(ben)[2:6] == ["Rules & settings", "Rules", "All settings", "Answers"]


@SCREENS
def test_places_are_opened_by_keyboard(somebody: Callable[[], Visitor], width: int, scheme: str) -> None:
    ben = somebody().log_in("analyst").at(width, scheme).go("/admin/")
    if width < 1000:
        assert links(ben) == []
        ben.tab_to(ben.page.get_by_role("button", name="Places"))
        ben.page.keyboard.press("Enter")
        expect(ben.page.locator(".ce-nav").get_by_role("link", name="Home")).to_be_focused()
    ben.tab_to(ben.page.locator(".ce-nav").get_by_role("link", name="Rules & settings"))
    with ben.page.expect_navigation():
        ben.page.keyboard.press("Enter")

    assert ben.page.url.endswith("/admin/config_admin/cerule/")


def test_the_first_page_tells_a_change_just_made(ada: Visitor) -> None:
    ada.open_response("Send your meter reading")
    ada.page.get_by_label("Reason for this change").fill("More days for meter readings")
    ada.page.get_by_label("Text", exact=True).fill(
        "Send your meter reading between the 15th and the last day of the month."
    )
    ada.save()
    ada.go("/admin/")

    assert "More days for meter readings" in ada.page.get_by_role("region", name="Latest changes").inner_text()


@pytest.mark.parametrize("with_mouse", [True, False])
@SCREENS
def test_from_a_row_one_comes_to_what_uses_it(
    somebody: Callable[[], Visitor], width: int, scheme: str, with_mouse: bool
) -> None:
    ben = somebody().log_in("analyst").at(width, scheme).go("/admin/config_admin/ceintent/THANKS/change/")
    used = ben.page.get_by_role("region", name="Where it is used")
    expect(used).to_contain_text("Leads to it")

    link = used.get_by_role("link", name="Phrase").first
    with ben.page.expect_navigation():
        if with_mouse:
            link.click()
        else:
            ben.tab_to(link)
            ben.page.keyboard.press("Enter")
    expect(ben.page.locator("#id_pattern")).to_be_visible()
