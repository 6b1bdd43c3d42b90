"""Two people in browsers of their own edit the same row: neither loses a word, and each knows of the other."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visitor

pytestmark = pytest.mark.browser
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
    assert "Somebody (analyst, " in ada.text
    sides = ada.page.get_by_role("region", name="Both changes, field by field")
    expect(sides.get_by_role("heading", name="Priority")).to_contain_text("only analyst changed it: taken")
    expect(sides.get_by_role("heading", name="Description")).to_contain_text("only you changed it: yours stays")
    sides.get_by_label("both together, as written here").check()
    both = sides.get_by_label("Text, both together")
    expect(both).to_have_value(f"Good news: {base} We never sleep. Or write to us.")
    ada.page.get_by_label("Reason for this change").fill("By letter, too")
    ada.save()

    assert "is live" in ada.text
    ada.page.goto(url)
    expect(text).to_have_value(f"Good news: {base} We never sleep. Or write to us.")
    expect(ada.page.get_by_label("Priority")).to_have_value("77")
    expect(ada.page.get_by_label("Description")).to_have_value("how to reach people")
    ada.page.goto(url.replace("/change/", "/history/"))
    newest = ada.page.locator(".ce-history > li").first
    expect(newest).to_contain_text("By letter, too (together with the change of analyst, release ")
    expect(ada.page.locator(".ce-history > li").nth(1)).to_contain_text("by analyst")
