"""Two people in browsers of their own edit the same row: neither loses a word, and each knows of the other."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.axe import no_violations
from tests.browser.conftest import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.long]
PHONE = "0800 555 0199"


def test_two_people_edit_one_row_and_neither_loses_a_word(somebody: Callable[[], Visitor]) -> None:
    ada, ben = somebody().log_in(), somebody().log_in("analyst")
    ada.open_response(PHONE)
    url = ada.page.url
    ben.page.goto(url)
    text = ada.page.get_by_label("Text", exact=True)
    base = text.input_value()
    text.fill(f"{base} Or write to us.")
    ada.page.get_by_label("Description").fill("how to reach people")
    ben.page.get_by_label("Text", exact=True).fill(f"Good news: {base} We never sleep.")
    ben.page.get_by_label("Priority").fill("77")
    ben.save()

    ada.save()
    assert "analyst changed this row (" in ada.text
    sides = ada.page.get_by_role("region", name="Both changes, field by field")
    expect(sides.get_by_role("heading", name="Priority")).to_contain_text("changed only by analyst: used")
    expect(sides.get_by_role("heading", name="Description")).to_contain_text("changed only by you: used")
    sides.get_by_label("both combined, as written here").check()
    both = sides.get_by_label("Text, both together")
    expect(both).to_have_value(f"Good news: {base} We never sleep. Or write to us.")
    ada.page.get_by_label("Reason for this change").fill("By letter, too")
    ada.save()

    assert "is active" in ada.text
    ada.page.goto(url)
    expect(text).to_have_value(f"Good news: {base} We never sleep. Or write to us.")
    expect(ada.page.get_by_label("Priority")).to_have_value("77")
    expect(ada.page.get_by_label("Description")).to_have_value("how to reach people")
    ada.page.goto(url.replace("/change/", "/history/"))
    newest = ada.page.locator(".ce-history > li").first
    expect(newest).to_contain_text("By letter, too (combined with the change of analyst, release ")
    expect(ada.page.locator(".ce-history > li").nth(1)).to_contain_text("by analyst")


def test_a_deleted_row_is_made_again_by_keyboard(somebody: Callable[[], Visitor]) -> None:
    ada, ben = somebody().log_in(), somebody().log_in("analyst")
    ada.page.set_viewport_size({"width": 768, "height": 900})
    ada.page.emulate_media(color_scheme="dark")
    ben.go("/admin/config_admin/ceresponse/add/")
    ben.page.get_by_label("Intent").fill("THANKS")
    ben.page.get_by_label("State").fill("ELSEWHERE")
    ben.page.get_by_label("Written by").select_option("EXACT")
    ben.page.locator("#id_exact_text").fill("Until soon.")
    ben.save()
    ben.page.get_by_label("Save anyway").check()
    ben.save()
    ben.open_response("Until soon.")
    ada.page.goto(ben.page.url)
    ada.page.locator("#id_description").fill("the end of a talk")
    ben.page.goto(ada.page.url.replace("/change/", "/delete/"))
    ben.give_reason()
    with ben.page.expect_navigation():
        ben.page.get_by_role("button", name="Delete").click()

    ada.page.get_by_label("Reason for this change").focus()
    ada.page.keyboard.type("Still said")
    enter(ada)
    expect(ada.page.locator(".ce-box-danger")).to_be_focused()
    assert "Not saved: analyst deleted Answer" in ada.text
    no_violations(ada.page)
    expect(ada.page.locator("#id_description")).to_have_value("the end of a talk")
    ada.page.get_by_label("Save anyway").focus()
    ada.page.keyboard.press("Space")
    enter(ada)
    assert "is active" in ada.text


def enter(visitor: Visitor) -> None:
    """Send the form from its last input, with the keyboard."""
    visitor.page.get_by_label("Reason for this change").focus()
    with visitor.page.expect_navigation():
        visitor.page.keyboard.press("Enter")


def test_both_sides_are_chosen_between_by_keyboard_on_a_narrow_screen(somebody: Callable[[], Visitor]) -> None:
    ada, ben = somebody().log_in(), somebody().log_in("analyst")
    ada.page.set_viewport_size({"width": 768, "height": 900})
    ada.page.emulate_media(color_scheme="dark")
    ada.go("/admin/config_admin/cerule/4/change/")
    ben.page.goto(ada.page.url)
    for visitor, words, priority in ((ben, "Ben's words", "21"), (ada, "Ada's words", "22")):
        visitor.page.locator("#id_description").fill(words)
        visitor.page.locator("#id_priority").fill(priority)
        visitor.give_reason()
    ben.save()
    enter(ada)

    expect(ada.page.locator(".ce-box-danger")).to_be_focused()
    no_violations(ada.page)
    assert ada.page.evaluate("document.documentElement.scrollWidth") <= 768
    ada.page.get_by_role("group", name="Version of Priority").get_by_role("radio").first.focus()
    ada.page.keyboard.press("ArrowDown")
    enter(ada)
    assert "Not saved yet: choose a version for each field." in ada.text
    expect(ada.page.get_by_role("group", name="Version of Priority").get_by_role("radio").nth(1)).to_be_checked()
    ada.page.get_by_role("group", name="Version of Description").get_by_role("radio").first.focus()
    ada.page.keyboard.press("ArrowUp")
    ada.page.keyboard.press("Tab")
    both = ada.page.get_by_label("Description, both together")
    expect(both).to_be_focused()
    expect(both).to_have_value("Ben's words Ada's words")
    no_violations(ada.page)
    ada.page.keyboard.press("End")
    ada.page.keyboard.type(" together")
    enter(ada)

    assert "is active" in ada.text
    ada.go("/admin/config_admin/cerule/4/change/")
    expect(ada.page.locator("#id_description")).to_have_value("Ben's words Ada's words together")
    expect(ada.page.locator("#id_priority")).to_have_value("22")
