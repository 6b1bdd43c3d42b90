"""A handbook is imported in a real browser, looked through by its sections, and answers at once."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.axe import no_violations
from tests.browser.conftest import SCREENS, Visitor

pytestmark = pytest.mark.browser
ROOMS = "\n\n".join(f"## Room {number}\n\nRoom {number} has {number} chairs and a lamp." for number in range(1, 300))


@SCREENS
def test_a_handbook_is_imported_and_answers_at_once(somebody: Callable[[], Visitor], width: int, scheme: str) -> None:
    ben = somebody().log_in("analyst").at(width, scheme)
    page = ben.go("/admin/config_admin/ceanswerdocument/import/").page
    no_violations(page)
    assert ben.fits
    attic = f"## Bats in the {scheme} attic\n\nThe bats sleep until dusk. Never wake the {scheme} bats."
    text = f"# House\n\n{attic}\n\n{ROOMS}"
    page.locator("#id_file").set_input_files(
        {"name": f"{scheme} {width}.md", "mimeType": "text/markdown", "buffer": text.encode()}
    )
    page.get_by_label("Reason for this change").fill("our handbook")
    with page.expect_navigation():
        page.get_by_role("button", name="Import", exact=True).press("Enter")
    expect(page.locator("body")).to_contain_text("has 300 sections")
    expect(page.get_by_role("heading", name="300 sections")).to_be_visible()
    no_violations(page)
    assert ben.fits

    page.get_by_label("What a user writes").fill(f"may I wake the bats in the {scheme} attic?")
    with page.expect_navigation():
        page.get_by_role("button", name="Find", exact=True).press("Enter")
    expect(page.get_by_role("status")).to_contain_text(f"Never wake the {scheme} bats.")
    no_violations(page)
    page.get_by_label("Switch off Room 1", exact=True).check()
    page.get_by_label("Reason for this change").fill("closed")
    with page.expect_navigation():
        page.get_by_role("button", name="Save", exact=True).press("Enter")
    expect(page.get_by_label("Switch off Room 1", exact=True)).to_be_checked()

    ben.go("/admin/audit/ceaudit/talk/")
    ben.say(f"may I wake the bats in the {scheme} attic?")
    expect(page.locator("#last")).to_contain_text(f"Never wake the {scheme} bats.")
