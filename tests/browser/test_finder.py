"""Ctrl-K: everything is found from everywhere with the keyboard alone."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.axe import no_violations
from tests.browser.conftest import SCREENS, Visitor

pytestmark = [pytest.mark.browser, pytest.mark.long]


def options(visitor: Visitor) -> list[str]:
    """What the open box offers."""
    return visitor.page.locator("#ce-finder [role=option] b").all_inner_texts()


@SCREENS
def test_a_row_is_found_and_opened_with_the_keyboard(somebody: Callable[[], Visitor], width: int, scheme: str) -> None:
    ben = somebody().log_in("analyst").at(width, scheme)
    ben.page.keyboard.press("Control+k")
    box = ben.page.get_by_role("combobox", name="Search everything")
    expect(box).to_be_focused()

    ben.page.keyboard.type("Keep the receipt; the order")
    chosen = ben.page.locator("#ce-finder [aria-selected=true]")
    expect(chosen).to_contain_text("Keep the receipt; the order")
    with ben.page.expect_navigation():
        ben.page.keyboard.press("Enter")

    expect(ben.page.get_by_label("Text", exact=True)).to_contain_text("Keep the receipt; the order")


def test_arrows_choose_and_escape_closes(ada: Visitor) -> None:
    ada.page.get_by_role("link", name="Search everything").click()
    ada.page.keyboard.type("CANCEL_ORDER")
    expect(ada.page.locator("#ce-finder [aria-selected=true]")).to_contain_text("Intent CANCEL_ORDER")
    first = ada.page.locator("#ce-finder-text").get_attribute("aria-activedescendant")
    ada.page.keyboard.press("ArrowDown")

    assert ada.page.locator("#ce-finder-text").get_attribute("aria-activedescendant") != first
    ada.page.keyboard.press("Escape")
    expect(ada.page.locator("#ce-finder")).to_be_hidden()


@SCREENS
def test_settings_and_pages_are_found_and_opened_with_the_mouse(ada: Visitor, width: int, scheme: str) -> None:
    ada.at(width, scheme)
    if width < 1000:
        ada.page.get_by_role("button", name="Places").click()
    ada.page.get_by_role("link", name="Search everything").click()
    ada.page.keyboard.type("idle_timeout")
    expect(ada.page.locator("#ce-finder [role=option]")).to_contain_text(["Offer to resume after idle hours"])
    ada.page.locator("#ce-finder-text").fill("direct tool")
    expect(ada.page.locator("#ce-finder [aria-selected=true]")).to_contain_text("Direct tool calls")
    ada.page.locator("#ce-finder-text").fill("nothing of the kind")
    expect(ada.page.locator("#ce-finder [role=status]")).to_have_text(
        "Nothing contains all of these words. Use fewer words for more results."
    )
    no_violations(ada.page)
    ada.page.locator("#ce-finder-text").fill("direct tool")
    with ada.page.expect_navigation():
        ada.page.locator("#ce-finder [role=option]").filter(has_text="Tools that are always called in a state.").click()


def test_without_the_script_the_search_is_a_page(ada: Visitor) -> None:
    ada.go("/admin/find/")
    ada.page.get_by_role("searchbox").fill("meter reading")
    ada.page.get_by_role("button", name="Search", exact=True).click()

    expect(ada.page.locator(".ce-hits mark").first).to_have_text("meter reading")
