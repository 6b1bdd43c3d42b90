"""The grid in a real browser: filled in, pasted into and saved, by mouse and by keyboard alone."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.axe import no_violations
from tests.browser.conftest import SCREENS, Visitor
from tests.pace import allow

pytestmark = pytest.mark.browser

GRID = "/admin/config_admin/ceverbose/grid/"
#: A block as spreadsheets put it on the clipboard: a cell with quotes and a line break, and one that is a quotation.
BLOCK = 'Alpha\t"Sorry, ""this"" failed.\nPlease wait."\nBeta\t"to be" or not\n'


def open_grid(visitor: Visitor, address: str = GRID) -> Page:
    page = visitor.go(address).page
    expect(page.get_by_role("grid")).to_have_attribute("aria-busy", "false")
    return page


def cell(page: Page, row: int, column: str) -> Locator:
    """A cell, by its place among the rows that are shown and the label of its column."""
    names = page.get_by_role("columnheader").all_inner_texts()
    return page.locator(f'.ce-grid-row[data-row="{row}"] [data-column="{names.index(column)}"]')


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def with_rows(visitor: Visitor, count: int, name: str = "GRID", first: int = 9000) -> None:
    """Progress texts to work on, switched off, that no other test looks at."""
    rows = [
        {
            "verbose_id": first + n,
            "intent_code": "ANY",
            "state_code": "ANY",
            "step_value": "RulesStep",
            "enabled": False,
        }
        | {"determinant": f"{name}_{n}", "message": f"Text {n}", "priority": 100 + n}
        for n in range(count)
    ]
    visitor.bring({"ce_verbose": rows})


@SCREENS
def test_cells_are_edited_and_saved_by_keyboard_alone(
    ada: Visitor, somebody: Callable[[], Visitor], width: int, scheme: str
) -> None:
    with_rows(ada, 3)
    ben = somebody().log_in("analyst").at(width, scheme)
    page = ben.go("/admin/config_admin/ceverbose/?q=GRID").page
    page.get_by_role("link", name="Edit in a grid").press("Enter")
    expect(page.locator("[data-grid=status]")).to_contain_text("3 rows")
    ben.tab_to(page.locator("[data-column][tabindex='0']"))

    cell(page, 0, "Priority").focus()
    press(page, "5", "5", "Enter", "F2", "Escape", "ArrowUp")
    expect(cell(page, 0, "Priority")).to_be_focused()
    expect(cell(page, 0, "Priority")).to_have_text("55")
    press(page, "Shift+ArrowDown", "Shift+ArrowDown", "Control+d")
    expect(cell(page, 2, "Priority")).to_have_text("55")
    press(page, "Control+z")
    expect(cell(page, 2, "Priority")).to_have_text("102")
    press(page, "Control+y")
    expect(page.locator("[data-grid=status]")).to_contain_text("3 cells edited in 3 rows")
    expect(cell(page, 1, "Priority")).to_have_attribute("aria-selected", "true")

    cell(page, 1, "Priority").focus()
    page.keyboard.type("soon")
    press(page, "Enter")
    page.get_by_label("Reason for this change").fill("quicker texts")
    press(page, "Enter")
    expect(page.get_by_role("alert")).to_contain_text("nothing was changed")
    press(page, "Enter")
    expect(cell(page, 1, "Priority")).to_be_focused()
    expect(cell(page, 1, "Priority")).to_have_attribute("aria-invalid", "")
    expect(page.locator("#ce-grid-tip")).to_contain_text("must be a whole number")
    assert page.locator("#ce-grid-tip").evaluate("tip => tip.offsetWidth > 2 * tip.offsetHeight")
    no_violations(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    page.keyboard.type("56")
    press(page, "Enter")
    cell(page, 1, "Enabled").focus()
    press(page, "Space", "Space", "Delete")
    page.get_by_label("Reason for this change").press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("is active")


def test_a_block_of_a_spreadsheet_is_pasted_by_mouse_and_found_again(ada: Visitor) -> None:
    with_rows(ada, 3)
    page = open_grid(ada, f"{GRID}?q=GRID")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.evaluate("text => navigator.clipboard.writeText(text)", BLOCK)
    cell(page, 0, "Message").click()
    press(page, "Control+v")
    expect(cell(page, 0, "Message")).to_have_text("Alpha")
    assert page.evaluate("getSelection().toString()") == ""
    press(page, "Control+c")
    assert (
        page.evaluate("navigator.clipboard.readText()")
        == 'Alpha\t"Sorry, ""this"" failed.\nPlease wait."\nBeta\t"""to be"" or not"'
    )

    cell(page, 2, "Message").click()
    press(page, "Control+v")
    expect(page.locator("[data-grid=status]")).to_contain_text("1 row added")
    expect(cell(page, 3, "Message")).to_have_text("Beta")
    cell(page, 3, "Error message").click()
    press(page, "End", "Control+v")
    expect(page.get_by_role("alert")).to_contain_text("2 cells were not pasted")
    press(page, "Control+z", "Control+z")
    expect(cell(page, 2, "Message")).to_have_text("Text 2")
    expect(page.locator("[data-grid=status]")).not_to_contain_text("added")

    cell(page, 0, "Message").click()
    cell(page, 2, "Message").click(modifiers=["Shift"])
    page.get_by_role("button", name="Fill down").click()
    expect(cell(page, 2, "Message")).to_have_text("Alpha")
    page.get_by_role("button", name="Undo").click()
    page.get_by_label("Find in rows").fill("to be")
    expect(page.locator("[data-grid=status]")).to_contain_text("1 of 3 rows")
    page.get_by_label("Find in rows").fill("")
    page.get_by_label("Show", exact=True).select_option("edited")
    expect(page.locator("[data-grid=status]")).to_contain_text("2 of 3 rows")
    cell(page, 0, "Message").dblclick()
    page.get_by_role("textbox", name="Message of").fill("One\nTwo")
    cell(page, 1, "Priority").click()
    expect(cell(page, 0, "Message")).to_have_text("One ⏎ Two")

    page.get_by_label("Reason for this change").fill("other words")
    page.get_by_role("button", name="Save all").click()
    expect(page.get_by_role("alert")).to_contain_text("is active")
    page = open_grid(ada, f"{GRID}?q=GRID")
    cell(page, 0, "Error message").dblclick()
    assert page.get_by_role("textbox", name="Error message of").input_value() == 'Sorry, "this" failed.\nPlease wait.'


@pytest.mark.long
def test_what_two_people_do_to_one_cell_is_chosen_between(ada: Visitor, somebody: Callable[[], Visitor]) -> None:
    with_rows(ada, 3)
    ben = somebody().log_in("analyst")
    theirs, mine = open_grid(ada, f"{GRID}?q=GRID"), open_grid(ben, f"{GRID}?q=GRID")
    for page, row, word in ((theirs, 0, "Theirs"), (theirs, 1, "Both"), (mine, 0, "Mine"), (mine, 2, "Mine alone")):
        cell(page, row, "Message").click()
        page.keyboard.type(word)
        press(page, "Enter")
    for page in (theirs, mine):
        page.get_by_label("Reason for this change").fill("my words")
    theirs.get_by_role("button", name="Save all").click()
    expect(theirs.get_by_role("alert")).to_contain_text("is active")

    mine.get_by_role("button", name="Save all").click()
    told = mine.get_by_role("alert")
    expect(told).to_contain_text("admin changed this in the meantime")
    expect(cell(mine, 0, "Message")).to_have_text("Mine")
    no_violations(mine)
    told.get_by_role("button", name="Use theirs").click()
    expect(cell(mine, 0, "Message")).to_have_text("Theirs")
    mine.get_by_role("button", name="Save all").click()
    expect(told).to_contain_text("is active")
    again = open_grid(ada, f"{GRID}?q=GRID")
    assert [cell(again, row, "Message").inner_text() for row in range(3)] == ["Theirs", "Both", "Mine alone"]


@pytest.mark.nightly
def test_five_thousand_rows_are_gone_through_without_waiting(ada: Visitor) -> None:
    def rows(route: Route) -> None:
        first = int(route.request.url.partition("after=")[2] or 0)
        texts = [*[""] * 5, *["word " * 10] * 20]
        found = [[str(n), "", "/", str(n), texts[:columns]] for n in range(first + 1, first + 1001)]
        route.fulfill(json={"rows": found, "next": str(first + 1000) if first < 4000 else None})

    page = ada.go("/admin/config_admin/cerule/grid/").page
    columns: Any = page.get_by_role("columnheader").count() - 1
    page.route("**/grid/rows/**", rows)
    page = open_grid(ada, "/admin/config_admin/cerule/grid/")
    expect(page.locator("[data-grid=status]")).to_contain_text("5000 rows")
    assert page.get_by_role("row").count() < 60
    assert page.get_by_role("grid").get_attribute("aria-rowcount") == "5001"
    cell(page, 0, "Priority").click()
    took = page.evaluate(
        """async () => {
            const begun = performance.now();
            for (const key of ["End", "Home", "PageDown", "ArrowDown"])
                document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true, ctrlKey: true}));
            const find = document.getElementById("grid-find");
            for (const text of ["w", "wo", "4321"]) {
                find.value = text;
                find.dispatchEvent(new Event("input"));
            }
            await new Promise(requestAnimationFrame);
            return performance.now() - begun;
        }"""
    )
    print(f"{took:.0f} ms")
    expect(page.locator("[data-grid=status]")).to_contain_text("1 of 5000 rows")
    assert took < allow(2000)


def test_a_grid_without_rows_says_so(ada: Visitor) -> None:
    page = ada.go("/admin/config_admin/cemcpserver/grid/").page

    expect(page.locator("[data-grid=none]")).to_have_text("There are no rows yet. Choose “Add row”.")
    expect(page.get_by_role("grid")).to_be_hidden()
    no_violations(page)


@pytest.mark.long
@SCREENS
def test_rows_are_added_and_deleted_by_keyboard_and_by_mouse(
    ada: Visitor, somebody: Callable[[], Visitor], width: int, scheme: str
) -> None:
    name = f"ROWS_{scheme.upper()}"
    with_rows(ada, 3, name, 10_000 + width)
    ben = somebody().log_in("analyst").at(width, scheme)
    page = open_grid(ben, f"{GRID}?q={name}")
    status = page.locator("[data-grid=status]")
    cell(page, 0, "Message").click()
    press(page, "Shift+ArrowDown", "Insert")
    expect(status).to_contain_text("2 rows added")
    expect(page.locator(".ce-grid-row[data-row='3'] [data-column='1']")).to_be_focused()
    press(page, "Control+z")
    expect(status).not_to_contain_text("added")
    press(page, "Control+y")
    row = page.locator(".ce-grid-row[data-row='3'] [data-column='0']")
    expect(row).to_have_accessible_name(re.compile("new .*Saving adds this row"))
    page.get_by_role("button", name="Delete row").click()
    expect(status).to_contain_text("1 row added")

    cell(page, 0, "Id").click()
    cell(page, 1, "Id").click(modifiers=["Shift"])
    page.get_by_role("button", name="Delete 2 rows").click()
    expect(cell(page, 1, "Id")).to_have_accessible_name(re.compile("Saving deletes this row"))
    press(page, "Control+Delete")
    expect(status).to_contain_text("1 row deleted")
    expect(page.get_by_role("button", name="Delete row")).to_be_visible()
    no_violations(page)
    assert ben.fits

    page.get_by_label("Reason for this change").fill("other rows")
    page.get_by_role("button", name="Save all").press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("nothing was changed")
    no_violations(page)
    for column, text in (("Intent", "ANY"), ("State", "ANY"), ("Step", "RulesStep"), ("Event", f"{name}_NEW")):
        cell(page, 3, column).click()
        page.keyboard.type(text)
        press(page, "Enter")
    cell(page, 3, "Message").click()
    page.keyboard.type("A new text")
    press(page, "Enter")
    page.get_by_role("button", name="Save all").press("Enter")
    page.get_by_role("button", name="Save anyway").press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("is active")
    expect(status).to_have_text("3 rows")
    page = open_grid(ben, f"{GRID}?q={name}")
    assert [cell(page, row, "Message").inner_text() for row in range(3)] == ["Text 0", "Text 2", "A new text"]
