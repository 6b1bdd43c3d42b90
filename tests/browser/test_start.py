"""A flow in a real browser: made by keyboard, tried, talked to, and edited again."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.axe import no_violations
from tests.browser.conftest import SCREENS, Server, Visitor

pytestmark = pytest.mark.browser


def get_card(page: Page, number: int) -> Locator:
    return page.get_by_role("group", name=re.compile(rf"^Field {number}\b"))


def fill(card: Locator, name: str, text: str) -> None:
    card.get_by_role("textbox", name=name, exact=True).fill(text)


@SCREENS
def test_a_flow_is_made_by_keyboard_talked_to_and_edited_again(
    somebody: Callable[[], Visitor], width: int, scheme: str
) -> None:
    ben = somebody().log_in("analyst").at(width, scheme)
    page = ben.tab
    ben.go("/admin/config_admin/ceintent/start/")
    page.get_by_label("Answer a question").focus()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_label("Collect and confirm")).to_be_checked()
    expect(page.get_by_label("Tool", exact=True)).to_be_hidden()
    title, code = page.locator("#id_title"), page.locator("#id_code")
    for name, made in (("Größe (neu)", "GROSSE_NEU"), ("2 eggs", ""), ("Lend a book", "LEND_A_BOOK")):
        title.fill(name)
        expect(code).to_have_value(made)
    code.fill("LEND")
    title.fill("Lend books")
    expect(code).to_have_value("LEND")
    page.get_by_label("Collect and confirm").focus()
    for words in ("Lend a book", f"LEND_{scheme}", "Somebody wants a book.", f"lend me a {scheme} book"):
        page.keyboard.press("Tab")
        page.keyboard.type(words)

    page.evaluate("window.isSamePage = true")
    fill(get_card(page, 1), "Field", "the title")
    page.get_by_role("button", name="Add a field").press("Enter")
    card = get_card(page, 2)
    expect(card.get_by_role("textbox", name="Field", exact=True)).to_be_focused()
    fill(card, "Field", "Branch")
    card.get_by_label("Type").select_option("choice")
    expect(card.get_by_role("textbox", name="At least", exact=True)).to_be_hidden()
    card.get_by_label("Choice, row 1").focus()
    for key_strokes in ("north", 2, "river", 2, "south", 2, "market, town hall"):
        if isinstance(key_strokes, str):
            page.keyboard.type(key_strokes)
        else:
            for _ in range(key_strokes):
                page.keyboard.press("Tab")
    expect(card.get_by_label("Choice, row 3")).to_have_value("")
    card.get_by_role("button", name="Move up").press("Enter")
    expect(get_card(page, 1).get_by_role("textbox", name="Field", exact=True)).to_have_value("Branch")
    talk = page.get_by_role("complementary", name="Talk to this flow")
    for text in (f"could you lend me some {scheme} book", "at the river"):
        ben.say(text)
    expect(talk.locator("#last")).to_contain_text("title")
    expect(talk.get_by_role("heading", name="How the message was read")).to_be_visible()
    expect(talk.get_by_role("button", name="Make a test")).to_be_visible()
    page.locator("#id_phrases").fill("borrow")
    talk.get_by_role("button", name="Play again").press("Enter")
    expect(talk.locator("#last")).to_contain_text("Differs from before")
    page.locator("#id_phrases").fill(f"lend me a {scheme} book")
    no_violations(page)
    assert ben.fits
    page.get_by_role("button", name="Preview").press("Enter")

    expect(page.get_by_role("heading", name="This will be created")).to_be_focused()
    assert page.evaluate("window.isSamePage")
    no_violations(page)
    page.get_by_label("Reason for this change").fill("we lend books now")
    with page.expect_navigation():
        page.get_by_role("button", name="Create").press("Enter")
    expect(page).to_have_url(re.compile(rf"LEND_{scheme.upper()}/flow/"))
    expect(talk.get_by_label("Your message")).to_be_focused()
    for text in (f"lend me a {scheme} book", "at the river", "Emma", "yes"):
        ben.say(text)
    expect(page.locator("#last")).to_contain_text("Thank you, I have noted that.")
    no_violations(page)
    assert ben.fits

    fill(get_card(page, 1), "Question", "At which branch, please?")
    get_card(page, 2).get_by_role("button", name="Remove").press("Enter")
    expect(get_card(page, 2)).to_have_count(0)
    answer = page.get_by_label("Answer", exact=True)
    answer.fill("See you at the {{ brench }}.")
    answer.press("Tab")
    expect(page.get_by_text("Did you mean branch?")).to_be_visible()
    answer.fill("See you at the ")
    page.locator("#id_answer ~ [data-advice]").get_by_role("button", name="Branch").click()
    expect(answer).to_have_value("See you at the {{ branch }}")
    expect(page.get_by_text("Did you mean branch?")).to_be_hidden()
    page.get_by_label("Reason for this change").fill("the title is not needed")
    with page.expect_navigation():
        page.get_by_role("button", name="Save", exact=True).press("Enter")
    for text in (f"lend me a {scheme} book", "south", "yes"):
        ben.say(text)
    expect(page.locator("#last")).to_contain_text("See you at the south")


#: How a page of a flow is changed.
CHANGES: dict[str, Callable[[Page], None]] = {
    "a text is typed": lambda page: page.locator("#id_answer").press_sequentially("!"),
    "a name is written into a text": lambda page: page.locator("#id_answer ~ [data-advice] button").first.click(),
    "a field is added": lambda page: page.get_by_role("button", name="Add a field").click(),
    "a field is moved": lambda page: page.get_by_role("button", name="Move down: Field 1").click(),
    "a field is removed": lambda page: page.get_by_role("button", name="Remove: Field 1").click(),
    "an answer is chosen": lambda page: page.get_by_label("Answer a question").check(),
}


def test_a_saved_flow_asks_for_a_reason_once_something_was_changed(somebody: Callable[[], Visitor]) -> None:
    ben = somebody().log_in("analyst")
    page = ben.tab
    reason = page.get_by_label("Reason for this change")
    for name, change in CHANGES.items():
        ben.go("/admin/config_admin/ceintent/MOVE_CONNECTION/flow/")
        expect(page.locator("#id_answer ~ [data-advice] button").first).to_be_visible()
        expect(reason).to_be_hidden()
        change(page)
        assert reason.is_visible(), name


_REVIEW = """
from config_admin.models import CeConfig
CeConfig.objects.filter(config_type="Releases", config_key="MODE").delete()
if "{mode}": CeConfig.objects.create(config_type="Releases", config_key="MODE", config_value="{mode}")
"""


def test_a_flow_is_saved_in_a_draft_where_changes_are_reviewed(server: Server, somebody: Callable[[], Visitor]) -> None:
    server.manage("shell", "-v0", "-c", _REVIEW.format(mode="REVIEWED"))
    try:
        ben = somebody().log_in("analyst").at(390, "dark")
        page = ben.tab
        ben.go("/admin/config_admin/ceintent/start/")
        expect(page.get_by_role("complementary", name="Where changes go")).to_contain_text("goes to a draft")
        no_violations(page)
        assert ben.fits
        texts = {"code": "PARK", "title": "Park here", "phrases": "where to park", "answer": "Behind."}
        for name, text in texts.items():
            page.locator(f"#id_{name}").fill(text)
        page.get_by_label("Reason for this change").fill("many ask")
        with page.expect_navigation():
            page.get_by_role("button", name="Create").press("Enter")
        expect(page.get_by_role("heading", name="Save in a draft").first).to_be_visible()
        page.get_by_label("Title of a new draft").fill("Parking")
        with page.expect_navigation():
            page.get_by_role("button", name="Save in the draft").press("Enter")
        expect(page).to_have_url(re.compile(r"PARK/flow/"))
        expect(page.get_by_role("complementary", name="Draft", exact=True)).to_contain_text("Parking")
        assert ben.fits
        assert all("409" in trouble for trouble in ben.troubles)
        ben.troubles.clear()
        page.wait_for_load_state("networkidle")  # The preview of the flow is not there outside of the draft.
        with page.expect_navigation():
            page.get_by_role("button", name="Leave").press("Enter")
    finally:
        server.manage("shell", "-v0", "-c", _REVIEW.format(mode=""))


def test_what_is_not_allowed_is_written_as_rows_and_holds_in_the_conversation(ada: Visitor) -> None:
    page = ada.tab
    ada.go("/admin/config_admin/ceintent/start/?kind=collect")
    for name, words in (("code", "LESSON"), ("title", "Driving lesson"), ("phrases", "book a driving lesson")):
        page.locator(f"#id_{name}").fill(words)
    fill(get_card(page, 1), "Field", "Day")
    get_card(page, 1).get_by_label("Type").select_option("date")

    page.get_by_role("button", name="Add what is not allowed").click()
    card = page.get_by_role("group", name="Not allowed 1")
    field = card.get_by_label("Field", exact=True)
    expect(field).to_be_focused()
    expect(page.locator('datalist option[value="day"]')).to_have_count(1)
    field.fill("day")
    field.press("Tab")
    card.get_by_label("Operator").select_option("is on weekday")
    card.get_by_label("Sunday").check()
    card.get_by_label("Text").fill("We do not teach on Sundays.")
    card.get_by_label("Ask again for").fill("Day")
    no_violations(page)
    page.get_by_label("Reason for this change").fill("the school opens")
    with page.expect_navigation():
        page.get_by_role("button", name="Create").click()

    expect(page.get_by_role("group", name="Not allowed 1").get_by_label("Sunday")).to_be_checked()
    for text in ("book a driving lesson", "16 March 2031"):
        ada.say(text)
    expect(page.locator("#last")).to_contain_text("We do not teach on Sundays. Which day?")
    for text in ("17 March 2031", "change the day to 16 March 2031"):
        ada.say(text)
    expect(page.locator("#last")).to_contain_text("We do not teach on Sundays. Which day?")


@SCREENS
def test_a_long_flow_is_folded_opens_by_keyboard_and_asks_for_a_reason_once_it_changes(
    somebody: Callable[[], Visitor], server: Server, tmp_path: Path, width: int, scheme: str
) -> None:
    code = f"SURVEY_{scheme.upper()}"
    fields = [{"name": f"day{n}", "title": f"Day {n}", "type": "date", "question": f"Day {n}?"} for n in range(1, 26)]
    flow = {"code": code, "title": f"Survey {scheme}", "kind": "collect", "phrases": [f"{scheme} survey"]}
    (tmp_path / "flow.json").write_text(json.dumps({**flow, "fields": fields, "answer": "Done."}))
    server.manage("start_flow", str(tmp_path / "flow.json"))
    ben = somebody().log_in("analyst").at(width, scheme)
    page = ben.go(f"/admin/config_admin/ceintent/{code}/flow/").tab
    card, reason = get_card(page, 7), page.get_by_label("Reason for this change")
    question = card.get_by_role("textbox", name="Question", exact=True)

    expect(question).to_be_hidden()
    expect(reason).to_be_hidden()
    assert page.evaluate("document.querySelector('.ce-start-main').scrollHeight") < 5000
    no_violations(page)
    card.locator("summary", has_text="Day 7, date").press("Enter")
    question.fill("Which day, then?")
    expect(reason).to_be_visible()

    page.get_by_role("button", name="Preview").press("Enter")
    expect(page.get_by_role("heading", name="This will change")).to_be_focused()
    expect(question).to_have_value("Which day, then?")
    expect(question).to_be_visible()
    expect(get_card(page, 8).get_by_role("textbox", name="Question", exact=True)).to_be_hidden()
    assert ben.fits
