"""A whole topic in a real browser: made, renamed, copied, switched off, exported and deleted; a release taken back."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import no_violations
from tests.browser.conftest import SCREENS, Visitor

pytestmark = pytest.mark.browser
CONFIRMED = re.compile(r"Release \d+ is active")


def confirm(visitor: Visitor, button: str) -> None:
    """Press the button of a preview that nothing is wrong with, and wait for the release."""
    no_violations(visitor.page)
    assert visitor.fits
    with visitor.page.expect_navigation():
        visitor.page.get_by_role("button", name=button).click()
    expect(visitor.page.locator("#main")).to_contain_text(CONFIRMED)


def open_topic_page(page: Page, name: str) -> None:
    with page.expect_navigation():
        page.get_by_role("group", name="The intent with all its rows").get_by_role("link", name=name).click()


@SCREENS
def test_an_analyst_keeps_a_topic_in_order(somebody: Callable[[], Visitor], width: int, scheme: str) -> None:
    ben = somebody().log_in("analyst").at(width, scheme)
    page, code = ben.page, f"PARKING_{scheme}".upper()
    ben.go("/admin/config_admin/ceintent/start/")
    page.get_by_label("Answer a question").check()
    page.locator("#id_code").fill(code)
    page.get_by_label(re.compile(r"^Name")).first.fill("Parking")
    page.locator("#id_description").fill("Somebody asks where to park.")
    page.locator("#id_phrases").fill(f"where may I park my {scheme} car")
    page.locator("#id_answer").fill("Behind the house.")
    page.get_by_label("Reason for this change").fill("people ask")
    page.get_by_role("button", name="Create").click()
    page.wait_for_url(re.compile(f"{code}/flow/"))
    ben.go(f"/admin/config_admin/ceintent/{code}/workspace/")

    open_topic_page(page, "Rename")
    no_violations(page)
    page.get_by_label("Code").fill(f"{code}_PLACE")
    page.get_by_label("Title").fill("Where to park")
    with page.expect_navigation():
        page.get_by_role("button", name="Preview").click()
    confirm(ben, "Rename")
    expect(page).to_have_url(re.compile(f"{code}_PLACE/workspace/"))
    ben.go(f"/admin/config_admin/ceintent/{code}/workspace/")
    expect(page.locator("#main")).to_contain_text(f"{code} was renamed to {code}_PLACE")
    page.reload()

    open_topic_page(page, "Duplicate")
    page.get_by_label("Code").fill(f"{code}_BIKES")
    with page.expect_navigation():
        page.get_by_role("button", name="Preview").click()
    confirm(ben, "Duplicate")
    open_topic_page(page, "Switch off")
    confirm(ben, "Switch off")
    expect(page.locator("#main")).to_contain_text("disabled")

    open_topic_page(page, "Export")
    no_violations(page)
    with page.expect_download() as download:
        page.get_by_role("link", name="Download").click()
    assert download.value.suggested_filename == f"{code.lower()}_bikes.yaml"
    page.get_by_role("link", name="Back").click()

    open_topic_page(page, "Delete")
    confirm(ben, "Delete")
    page.locator("#main").get_by_role("link", name=re.compile(r"^Release \d+$")).first.click()
    page.get_by_role("link", name="Undo only this release").click()
    page.get_by_label("Reason for this change").fill("the bikes need it")
    confirm(ben, "Undo")
    ben.go(f"/admin/config_admin/ceintent/{code}_BIKES/workspace/")
    expect(page.get_by_role("group", name="The intent with all its rows")).to_contain_text("Switch on")
