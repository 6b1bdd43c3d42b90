"""Histories, releases and the ways back: with the mouse on a wide screen, by keyboard on a narrow one."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.axe import no_violations
from tests.browser.conftest import Visitor

pytestmark = pytest.mark.browser


@pytest.fixture
def ada(ada: Visitor, request: pytest.FixtureRequest) -> Visitor:
    """An administrator at a screen of that width, in that light."""
    width, scheme = request.param
    ada.tab.set_viewport_size({"width": width, "height": 900})
    ada.tab.emulate_media(color_scheme=scheme)
    return ada


def everywhere(visitor: Visitor) -> None:
    """Hold the open page to what every page promises."""
    no_violations(visitor.page)
    assert visitor.fits


def change(visitor: Visitor, row: str, text: str, reason: str) -> int:
    """Write a description into a row; gives the release."""
    visitor.go(f"/admin/config_admin/{row}/change/")
    visitor.page.locator("#id_description").fill(text)
    visitor.page.get_by_label("Reason for this change").fill(reason)
    visitor.save()
    told = visitor.page.locator("#main").get_by_role("link", name=re.compile(r"^Release \d+$")).first.inner_text()
    return int(told.removeprefix("Release "))


@pytest.mark.long
@pytest.mark.parametrize("ada", [(1440, "light")], indirect=True)
def test_releases_are_compared_and_taken_back_with_the_mouse(ada: Visitor) -> None:
    ada.go("/admin/config_admin/ceresponse/7/change/")
    before = ada.page.locator("#id_description").input_value()
    wrong = change(ada, "ceresponse/7", "the wrong words", "Ticket 5")
    change(ada, "cerule/7", "something else", "Ticket 6")

    ada.page.locator(".ce-nav").get_by_role("link", name="More").click()
    ada.page.locator(".ce-nav").get_by_role("link", name="Compare releases").click()
    ada.page.get_by_label("From release").fill(str(wrong - 1))
    with ada.page.expect_navigation():
        ada.page.get_by_role("button", name="Compare").click()
    assert "2 rows are different" in ada.text
    counts = ada.page.get_by_role("table")
    expect(counts.get_by_role("row", name="Answers")).to_contain_text("1")
    expect(ada.page.get_by_role("region", name="Answer 7")).to_contain_text("the wrong words")
    everywhere(ada)
    with ada.page.expect_navigation():
        counts.get_by_role("link", name="Rules").click()
    expect(ada.page.get_by_role("region", name="Answer 7")).to_have_count(0)
    ada.page.get_by_role("link", name=f"release {wrong - 1}", exact=True).click()
    everywhere(ada)

    ada.go(f"/admin/config_admin/cerelease/{wrong}/change/")
    ada.page.get_by_role("link", name="Undo only this release").click()
    expect(ada.page.get_by_role("region", name="Answer 7")).to_contain_text("the wrong words")
    expect(ada.page.get_by_label("Reason for this change")).to_have_value(f"Undo release {wrong}")
    everywhere(ada)
    with ada.page.expect_navigation():
        ada.page.get_by_role("button", name="Undo").click()

    assert "is active" in ada.text
    ada.go("/admin/config_admin/ceresponse/7/change/")
    expect(ada.page.locator("#id_description")).to_have_value(before)
    ada.go("/admin/config_admin/cerule/7/change/")
    expect(ada.page.locator("#id_description")).to_have_value("something else")


@pytest.mark.parametrize("ada", [(768, "dark")], indirect=True)
def test_a_row_and_a_release_are_put_back_by_keyboard(ada: Visitor, somebody: Callable[[], Visitor]) -> None:
    first = change(ada, "ceresponse/8", "first words", "Ticket 7")
    second = change(ada, "ceresponse/8", "second words", "Ticket 8")
    ada.go("/admin/config_admin/ceresponse/8/history/")
    expect(ada.page.locator(".ce-history > li").first).to_contain_text("current version")
    everywhere(ada)
    follow(ada, f"Restore this version (release {first})")
    everywhere(ada)
    reason = ada.page.get_by_label("Reason for this change")
    reason.focus()
    ada.page.keyboard.press("Control+A")
    ada.page.keyboard.press("Delete")
    press_enter(ada)
    expect(reason).to_be_focused()
    assert "Enter a reason for this change" in ada.text
    everywhere(ada)
    ada.page.keyboard.type("The first were better")
    press_enter(ada)
    expect(ada.page.locator(".ce-history > li").first).to_contain_text("The first were better")

    ada.go(f"/admin/config_admin/cerelease/{second}/change/")
    follow(ada, "Roll back to this release")
    everywhere(ada)
    ben = somebody().log_in("analyst")
    meanwhile = change(ben, "ceresponse/9", "ben's words", "Ticket 9")
    ada.page.get_by_label("Reason for this change").focus()
    press_enter(ada)
    assert f"Release {meanwhile} was created meanwhile." in ada.text
    expect(ada.page.get_by_role("region", name="Answer 9")).to_contain_text("ben's words")
    everywhere(ada)
    ada.page.get_by_label("Reason for this change").focus()
    press_enter(ada)

    assert "is active" in ada.text
    ada.go("/admin/config_admin/ceresponse/8/change/")
    expect(ada.page.locator("#id_description")).to_have_value("second words")


def follow(visitor: Visitor, name: str) -> None:
    """Open a link with the keyboard."""
    visitor.page.get_by_role("link", name=name).focus()
    with visitor.page.expect_navigation():
        visitor.page.keyboard.press("Enter")


def press_enter(visitor: Visitor) -> None:
    """Answer the form whose input has the focus."""
    with visitor.page.expect_navigation():
        visitor.page.keyboard.press("Enter")
