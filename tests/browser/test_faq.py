"""Thirty questions pasted from a spreadsheet in a real browser, and answered at once."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.axe import no_violations
from tests.browser.conftest import SCREENS, Visitor

pytestmark = pytest.mark.browser
WORDS = """
    bicycle canoe dinghy easel freezer gazebo hammock inkwell jukebox kayak ladder mandolin notebook oboe piano
    quilt raincoat scooter telescope ukulele violin wardrobe xylophone yoyo zither anvil banjo compass drum
"""
THINGS = WORDS.split()


@SCREENS
def test_thirty_questions_are_pasted_and_answered_at_once(
    somebody: Callable[[], Visitor], width: int, scheme: str
) -> None:
    ben = somebody().log_in("analyst").at(width, scheme)
    page = ben.go("/admin/config_admin/ceintent/faq/").page
    no_violations(page)
    with page.expect_navigation():
        page.get_by_role("button", name="Preview").press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("is empty")
    no_violations(page)

    lines = [f'"How do I polish a {scheme} {thing}?\nclean my {scheme} {thing}"\tRub the {thing}.' for thing in THINGS]
    text = "\n".join(["Questions\tAnswer", *lines, f"How do I clean my {scheme} kayaks?\tRinse it.", "Whither?\t"])
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.evaluate("text => navigator.clipboard.writeText(text)", text)
    page.get_by_label("Cells of a spreadsheet").focus()
    page.keyboard.press("Control+v")
    with page.expect_navigation():
        page.get_by_role("button", name="Preview").press("Enter")
    expect(page.get_by_role("heading", name="30 answers with 59 questions")).to_be_focused()
    expect(page.get_by_role("region", name="Problems")).to_contain_text("Line 32: The answer is missing.")
    expect(page.locator("#main")).to_contain_text("Every question leads to its answer at once.")
    no_violations(page)
    assert ben.fits

    page.get_by_label("Leave out lines with problems").check()
    page.get_by_label("Reason for this change").fill("our questions")
    with page.expect_navigation():
        page.get_by_role("button", name="Create", exact=True).press("Enter")
    expect(page.locator("body")).to_contain_text("30 answers with 59 questions created.")
    ben.go("/admin/audit/ceaudit/simulate/")
    ben.say(f"how to polish an old {scheme} violin")
    expect(page.locator("#last")).to_contain_text("Rub the violin.")
