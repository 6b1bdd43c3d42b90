"""The manual beside the form: opened by mouse and by keyboard, closed with Escape, wide and narrow, light and dark."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.axe import no_violations
from tests.browser.conftest import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.long]
FORM = "/admin/config_admin/cerule/1/change/"


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (768, "dark")])
def test_a_field_is_explained_beside_the_form(somebody: Callable[[], Visitor], width: int, scheme: str) -> None:
    ben = somebody().log_in("analyst")
    page = ben.tab
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    ben.go(FORM)
    panel = page.get_by_role("complementary", name="Manual")

    page.locator("#id_priority").focus()
    page.keyboard.press("F1")
    expect(panel.get_by_role("heading", name="Priority")).to_be_focused()
    expect(panel).to_contain_text("Within one scope, lower numbers come first.")
    no_violations(page)
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    expect(page.locator("#id_priority")).to_be_focused()

    page.get_by_role("link", name="Manual: Phase").click()
    expect(panel).to_contain_text("POST_SCHEMA_EXTRACTION")
    panel.get_by_role("button", name="Close").click()
    expect(page.get_by_role("link", name="Manual: Phase")).to_be_focused()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_an_error_leads_to_what_it_means_and_on(somebody: Callable[[], Visitor]) -> None:
    ben = somebody().log_in("analyst").go(FORM)
    page = ben.page
    page.locator("#id_match_pattern").evaluate("field => { field.value = '(?=x)'; }")
    page.locator("#id_match_pattern").dispatch_event("input")
    page.locator("#id_match_pattern_live").get_by_role("link", name="REGEX_UNSUPPORTED").click()
    panel = page.get_by_role("complementary", name="Manual")
    expect(panel).to_contain_text("could make a turn hang")
    page.keyboard.press("Escape")

    ben.page.get_by_label("Reason for this change").fill("Trying")
    ben.save()
    page.locator(".field-match_pattern").get_by_role("link", name="REGEX_UNSUPPORTED").focus()
    page.keyboard.press("Enter")
    expect(panel.get_by_role("heading", name="Regex unsupported")).to_be_focused()


def test_readers_are_told_too(somebody: Callable[[], Visitor]) -> None:
    quinn = somebody().log_in("qa").go(FORM)
    quinn.page.get_by_role("link", name="Manual: Phase").click()

    expect(quinn.page.get_by_role("complementary", name="Manual")).to_contain_text("After data collection")


def test_the_manual_is_read_and_searched_as_pages(somebody: Callable[[], Visitor]) -> None:
    ben = somebody().log_in("analyst").go("/admin/")
    ben.page.get_by_role("link", name="Manual", exact=True).click()
    ben.page.get_by_label("Search the manual").fill("SET_STATE")
    ben.page.keyboard.press("Enter")
    ben.page.get_by_role("link", name="Set state").first.click()
    expect(ben.page.locator("[id='action.SET_STATE']")).to_contain_text("Changes the state of the conversation.")

    ben.go("/docs/rules/")
    ben.page.get_by_role("link", name="pattern", exact=True).click()
    expect(ben.page.get_by_role("heading", name="Patterns", level=3, exact=True)).to_be_visible()
