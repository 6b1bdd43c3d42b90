"""Groups in a real browser: a reader is shown what may be read, an analyst what may be changed, and nothing else."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.axe import no_violations
from tests.browser.conftest import SCREENS, Visitor

pytestmark = [pytest.mark.browser, pytest.mark.long]
RULE = "/admin/config_admin/cerule/1/change/"


@SCREENS
def test_a_reader_is_offered_nothing_to_change(somebody: Callable[[], Visitor], width: int, scheme: str) -> None:
    quinn = somebody().log_in("qa").at(width, scheme).go("/admin/")
    page = quinn.page
    expect(page.get_by_role("heading", name="Latest changes")).to_be_visible()
    for name in ("Try a conversation", "Start a flow", "Users", "API keys"):
        expect(page.get_by_role("link", name=re.compile(rf"^{name}\b"))).to_have_count(0)

    if width < 1000:
        page.get_by_role("button", name="Places").click()
    quinn.tab_to(page.locator(".ce-nav").get_by_role("link", name="Rules").first)
    with page.expect_navigation():
        page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="Add rule")).to_have_count(0)
    quinn.go(RULE)
    expect(page.get_by_role("button", name="Save")).to_have_count(0)
    expect(page.get_by_label("Reason for this change")).to_have_count(0)
    no_violations(page)


@SCREENS
def test_an_analyst_changes_rows_and_rolls_nothing_back(
    somebody: Callable[[], Visitor], width: int, scheme: str
) -> None:
    ben = somebody().log_in("analyst").at(width, scheme).go(RULE)
    page = ben.page
    expect(page.get_by_role("button", name="Save", exact=True)).to_be_visible()
    ben.go("/admin/config_admin/cerelease/2/change/")
    for name in ("Roll back to this release", "Undo only this release"):
        expect(page.get_by_role("link", name=re.compile(rf"^{name}\b"))).to_have_count(0)
    expect(page.get_by_text("Only configuration administrators can undo this release")).to_be_visible()
    expect(page.get_by_role("link", name=re.compile(r"^Users\b"))).to_have_count(0)
