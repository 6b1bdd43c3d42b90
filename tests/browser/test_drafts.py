"""A draft: made, edited, tried by looking, published and undone, with the mouse and by keyboard."""

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


def write(visitor: Visitor, row: str, text: str) -> None:
    visitor.go(f"/admin/config_admin/{row}/change/")
    visitor.page.locator("#id_description").fill(text)
    visitor.page.get_by_label("Reason for this change").fill("Ticket 9")
    visitor.save()
    expect(visitor.page.locator("#main")).to_contain_text("Conversations do not use it yet")


@SCREENS
def test_a_draft_is_made_edited_published_and_undone(ada: Visitor, width: int, scheme: str) -> None:
    title = f"Holidays {width}"
    ada.go("/admin/config_admin/cedraft/")
    check_page(ada)
    ada.go("/admin/config_admin/cedraft/add/")
    check_page(ada)
    ada.page.get_by_label("Title").fill(title)
    ada.page.get_by_label("Description").fill("We close on 24 December.")
    ada.save()
    expect(ada.page.get_by_role("complementary", name="Draft")).to_contain_text("0 changes")
    check_page(ada)

    write(ada, "ceresponse/7", "an answer in a draft")
    write(ada, "cerule/7", "a rule in a draft")
    expect(ada.page.get_by_role("complementary", name="Draft")).to_contain_text("2 changes")
    check_page(ada)

    with ada.page.expect_navigation():
        ada.page.get_by_role("complementary", name="Draft").get_by_role("link", name="Changes").click()
    expect(ada.page.get_by_role("region", name="Answer 7")).to_contain_text("an answer in a draft")
    check_page(ada)
    press(ada, "Leave the draft")
    ada.go("/admin/config_admin/ceresponse/7/change/")
    expect(ada.page.locator("#id_description")).not_to_have_value("an answer in a draft")

    ada.go("/admin/config_admin/cedraft/")
    with ada.page.expect_navigation():
        ada.page.get_by_role("link", name=title).click()
    press(ada, "Work in this draft")
    with ada.page.expect_navigation():
        ada.page.get_by_role("complementary", name="Draft").get_by_role("link", name="Publish").click()
    check_page(ada)
    press(ada, "Publish")
    expect(ada.page.locator("#main")).to_contain_text("is published as release")
    expect(ada.page.get_by_role("complementary", name="Draft")).to_have_count(0)
    check_page(ada)

    with ada.page.expect_navigation():
        ada.page.get_by_role("link", name="Undo only this release").click()
    press(ada, "Undo")
    ada.go("/admin/config_admin/ceresponse/7/change/")
    expect(ada.page.locator("#id_description")).not_to_have_value("an answer in a draft")
