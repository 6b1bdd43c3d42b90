"""*Try a conversation* in a real browser: messages are sent, and answers appended, in place."""

import pytest
from playwright.sync_api import expect

from tests.browser.axe import no_violations
from tests.browser.conftest import Visitor

pytestmark = pytest.mark.browser


def test_messages_are_sent_in_place_and_the_address_reopens_the_conversation(ada: Visitor) -> None:
    page = ada.go("/admin/audit/ceaudit/talk/").page
    page.evaluate("window.isSamePage = true")
    log = page.get_by_role("log", name="What was said")
    box = page.get_by_label("Your message")
    expect(box).to_be_focused()
    ada.say("where is my order")
    expect(log.get_by_role("listitem")).to_have_count(1)
    expect(page.locator("#last")).to_contain_text("Turn 1")
    expect(box).to_be_focused()
    expect(box).to_have_value("")
    expect(page.get_by_role("heading", name="How the last answer was chosen")).to_be_visible()
    ada.say("48392")
    expect(page.locator("#last")).to_contain_text("Turn 2")
    assert page.evaluate("window.isSamePage")
    no_violations(page)

    page.reload()
    expect(log.get_by_role("listitem")).to_have_count(2)
    page.evaluate("window.isSamePage = true")
    page.route("**/talk/**", lambda route: route.abort())
    box.fill("thanks")
    box.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("the server does not answer")
    expect(box).to_have_value("thanks")
    expect(box).to_be_focused()
    expect(log.get_by_role("listitem")).to_have_count(2)
    page.unroute("**/talk/**")
    ada.troubles.clear()

    page.get_by_role("link", name="New conversation").click()
    expect(log.get_by_role("listitem")).to_have_count(0)
    expect(box).to_be_focused()
    assert page.evaluate("window.isSamePage")
    page.go_back()
    expect(log.get_by_role("listitem")).to_have_count(2)
