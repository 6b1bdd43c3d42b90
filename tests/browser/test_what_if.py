"""What if: a draft is compared with what is live, on stored conversations, with the mouse and by keyboard."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import SCREENS, Server, Visitor, check_page

pytestmark = [pytest.mark.browser, pytest.mark.long]
PAGE = "/admin/audit/ceaudit/what-if/"


@pytest.fixture
def ada(ada: Visitor, width: int, scheme: str) -> Visitor:
    """An administrator at a screen of that width, in that light."""
    ada.tab.set_viewport_size({"width": width, "height": 900})
    ada.tab.emulate_media(color_scheme=scheme)
    return ada


def run(visitor: Visitor) -> None:
    """Press Run by keyboard, and wait for the results."""
    visitor.page.get_by_role("button", name="Run", exact=True).focus()
    with visitor.page.expect_navigation():
        visitor.page.keyboard.press("Enter")
    expect(visitor.page.get_by_role("link", name="Run again", exact=True)).to_be_visible(timeout=60_000)


@SCREENS
def test_a_draft_is_compared_with_what_is_live(ada: Visitor, server: Server, width: int, scheme: str) -> None:
    for lines in (("hi", "thanks"), ("thanks", "cancel my order", "48392"), ("hello",)):
        conversation = None
        for line in lines:
            conversation = server.say(line, conversation)["conversationId"]
    title = f"Other words {width}"
    ada.go("/admin/config_admin/cedraft/add/")
    ada.page.get_by_label("Title").fill(title)
    ada.save()
    ada.open_response("You are welcome!")
    ada.page.locator("#id_exact_text").fill("My pleasure!")
    ada.page.get_by_label("Reason for this change").fill("Shorter")
    ada.save()

    ada.go(PAGE)
    check_page(ada)
    expect(ada.page.get_by_label("Configuration")).to_contain_text(title)
    run(ada)
    expect(ada.page.locator("#main")).to_contain_text("turns differ")
    check_page(ada)
    with ada.page.expect_navigation():
        ada.page.get_by_role("link", name="in the group Only the answer").first.click()
    expect(ada.page.locator("article").first).to_contain_text("My pleasure!")
    check_page(ada)
    with ada.page.expect_navigation():
        ada.page.get_by_role("link", name="All groups").click()

    ada.go(f"{PAGE}?intent=NOBODY_HAS_THIS")
    run(ada)
    expect(ada.page.locator("#main")).to_contain_text("No stored conversation matches.")
    check_page(ada)
    ada.go("/admin/config_admin/cedraft/")
    ada.page.get_by_role("complementary", name="Draft").get_by_role("button", name="Leave").click()
