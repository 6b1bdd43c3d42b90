"""Tests on pages: made from messages, failing in a draft, mended, and the draft published through its gate."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import SCREENS, Visitor, check_page

pytestmark = [pytest.mark.browser, pytest.mark.long]


@pytest.fixture
def ada(ada: Visitor, width: int, scheme: str) -> Visitor:
    """An administrator at a screen of that width, in that light."""
    ada.tab.set_viewport_size({"width": width, "height": 900})
    ada.tab.emulate_media(color_scheme=scheme)
    return ada


def press(visitor: Visitor, name: str) -> None:
    """Press a button by keyboard."""
    button = visitor.page.locator("#main").get_by_role("button", name=name, exact=True).first
    button.focus()
    with visitor.page.expect_navigation():
        visitor.page.keyboard.press("Enter")


def write_answer(visitor: Visitor, address: str, text: str) -> None:
    visitor.go(address)
    visitor.page.locator("#id_exact_text").fill(text)
    visitor.page.get_by_label("Reason for this change").fill("Ticket 9")
    visitor.save()


def run_in_draft(visitor: Visitor, width: int) -> None:
    with visitor.page.expect_navigation():
        visitor.page.get_by_role("complementary", name="Draft").get_by_role("link", name="Test").click()
    visitor.page.get_by_label(f"smoke-{width}").check()
    press(visitor, "Run")


@SCREENS
def test_a_test_fails_in_a_draft_is_mended_and_lets_the_draft_through(ada: Visitor, width: int, scheme: str) -> None:
    title = f"Greeting {width}"
    ada.go("/admin/config_admin/cetestcase/")
    check_page(ada)
    ada.go("/admin/config_admin/cetestcase/coverage/")
    check_page(ada)
    ada.go("/admin/config_admin/cetestcase/add/")
    check_page(ada)
    press(ada, "Continue")
    check_page(ada)
    ada.page.locator("#id_title").fill(title)
    ada.page.locator("#id_messages").fill("What are your opening hours?\nHello")
    ada.page.locator("#id_tags").fill(f"smoke-{width}")
    ada.page.locator("#id_folder").fill("desk/greetings")
    press(ada, "Continue")
    check_page(ada)
    greeting = ada.page.get_by_label("Answer of turn 2").input_value()
    press(ada, "Save and run")
    expect(ada.page.locator("#main")).to_contain_text("The test passed.", timeout=15_000)
    check_page(ada)

    ada.go("/admin/config_admin/cedraft/add/")
    ada.page.get_by_label("Title").fill(f"Friendlier {width}")
    ada.save()
    answer = ada.open_response("Hello! I am the help desk").page.url.partition(ada.server.url)[2]
    write_answer(ada, answer, "Good evening, and welcome to the desk.")
    run_in_draft(ada, width)
    expect(ada.page.locator("#main")).to_contain_text("The test failed.", timeout=15_000)
    check_page(ada)
    with ada.page.expect_navigation():
        ada.page.locator("#main").get_by_role("link", name=title).click()
    expect(ada.page.get_by_role("region", name="What changed since it last passed")).to_contain_text("was changed")
    check_page(ada)

    write_answer(ada, answer, greeting)
    ada.go("/admin/config_admin/cerule/7/change/")
    ada.page.locator("#id_description").fill(f"a rule in a draft at {width}")
    ada.save()
    run_in_draft(ada, width)
    expect(ada.page.locator("#main")).to_contain_text("The test passed.", timeout=15_000)
    with ada.page.expect_navigation():
        ada.page.get_by_role("complementary", name="Draft").get_by_role("link", name="Changes").click()
    expect(ada.page.get_by_role("region", name="Tests")).to_contain_text("1 of 1 passed")
    check_page(ada)
    with ada.page.expect_navigation():
        ada.page.get_by_role("complementary", name="Draft").get_by_role("link", name="Publish").click()
    press(ada, "Publish")
    expect(ada.page.locator("#main")).to_contain_text("is published as release")

    for page in ("cetestcase", "cetestrun", "cetestcase/run", "cetestcase/coverage"):
        ada.go(f"/admin/config_admin/{page}/")
        check_page(ada)
