"""The simulator in a real browser: on its own page and beside a form, with the mouse and by keyboard."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import SCREENS, Visitor, check_page

pytestmark = [pytest.mark.browser, pytest.mark.long]


@SCREENS
def test_a_conversation_is_simulated_explained_and_played_again(ada: Visitor, width: int, scheme: str) -> None:
    ada.at(width, scheme).go("/admin/")
    page = ada.tab
    ada.go("/admin/audit/ceaudit/simulate/")
    expect(page.get_by_label("Your message")).to_be_focused()
    check_page(ada)
    page.evaluate("window.isSamePage = true")
    for text in ("where is my order", "48392"):
        ada.say(text)
        expect(page.get_by_label("Your message")).to_be_focused()
    expect(page.get_by_role("status").filter(has_text="Answer:")).to_have_count(1)
    expect(page.locator("#last")).to_contain_text("1 call without an answer")
    check_page(ada)

    page.get_by_label("Answer of order.lookup").fill(
        '{"found": true, "number": "48392", "item": "lamp", "status": "on its way"}'
    )
    page.get_by_role("button", name="Use this answer").first.press("Enter")
    expect(page.locator("#last")).not_to_contain_text("without an answer")
    expect(page.locator("#last")).to_contain_text("Differs from before")
    expect(page.get_by_role("button", name="Use this answer").first).to_be_focused()
    check_page(ada)

    page.get_by_role("button", name="Play again").press("Enter")
    expect(page.get_by_text("Differs from before")).to_have_count(0)
    page.get_by_role("button", name="Explain turn 1").click()
    expect(page.get_by_role("heading", name="What happened in turn 1")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download as a test").click()
    assert re.match(r"simulated-\w{8}\.yaml", download.value.suggested_filename)
    page.get_by_role("button", name=re.compile(r"Remove from here \(turn 2\)")).click()
    expect(page.locator("[data-turn]")).to_have_count(1)
    page.get_by_role("button", name="New conversation").click()
    expect(page.locator("[data-turn]")).to_have_count(0)
    assert page.evaluate("window.isSamePage")


@SCREENS
def test_a_form_is_tried_beside_itself_before_it_is_saved(ada: Visitor, width: int, scheme: str) -> None:
    page = ada.at(width, scheme).tab
    ada.go("/admin/config_admin/ceoutputschema/")
    ada.open_response("ask for the next field")
    assert not page.evaluate("Boolean(window.ceSimulator)")
    button = page.get_by_role("button", name="Try before saving", exact=True)
    button.press("Enter")
    drawer = page.get_by_role("complementary", name="Try before saving")
    expect(drawer.get_by_label("Your message")).to_be_focused()
    check_page(ada)
    ada.say("where is my order")
    expect(drawer).to_contain_text("unsaved, on")
    before = drawer.locator("#last [data-sim-answer]").inner_text()

    page.evaluate("""() => {
        const input = document.getElementById("id_exact_text");
        input.value = "Unsaved: which one?";
        input.dispatchEvent(new Event("input", {bubbles: true}));
    }""")
    drawer.get_by_role("button", name="Play again").click()
    expect(drawer.locator("#last [data-sim-answer]")).to_contain_text("Unsaved: which one?")
    expect(drawer.locator("#last")).to_contain_text("Differs from before")
    assert "Unsaved" not in before
    check_page(ada)

    page.locator("#id_state_code").evaluate("input => input.value = ''")
    drawer.get_by_role("button", name="Play again").click()
    expect(drawer.get_by_role("alert")).to_contain_text("The form has errors.")
    expect(drawer).to_contain_text("where is my order")
    drawer.get_by_label("Your message").press("Escape")
    expect(drawer).to_have_count(0)
    expect(button).to_be_focused()
