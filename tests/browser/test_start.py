"""Starting a flow in a real browser, and talking to it at once."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.axe import no_violations
from tests.browser.conftest import SCREENS, Visitor

pytestmark = pytest.mark.browser


@SCREENS
def test_a_flow_is_started_by_keyboard_and_works_at_once(
    somebody: Callable[[], Visitor], width: int, scheme: str
) -> None:
    ben = somebody().log_in("analyst").at(width, scheme)
    page = ben.page
    ben.go("/admin/config_admin/ceintent/start/")
    page.get_by_label("Answer a question").focus()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_label("Collect and confirm")).to_be_checked()
    expect(page.get_by_label("Tool", exact=True)).to_be_hidden()
    for words in (f"LEND_{scheme}", "Lend a book", "Somebody wants a book.", f"lend me a {scheme} book"):
        page.keyboard.press("Tab")
        page.keyboard.type(words)
    page.get_by_label("Field 1").fill("the title")
    no_violations(page)
    page.keyboard.press("Enter")

    expect(page.get_by_role("heading", name="This will be created")).to_be_visible()
    no_violations(page)
    page.get_by_label("Reason for this change").fill("we lend books now")
    with page.expect_navigation():
        page.get_by_role("button", name="Create").press("Enter")
    assert f"LEND_{scheme.upper()}/workspace/" in page.url

    page.get_by_role("link", name="Try a conversation").first.press("Enter")
    for said in (f"lend me a {scheme} book", "Emma", "yes"):
        page.get_by_label("Your message").fill(said)
        with page.expect_navigation():
            page.keyboard.press("Enter")
    expect(page.locator("#last")).to_contain_text("Thank you, I have noted that.")
    no_violations(page)
