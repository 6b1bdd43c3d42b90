"""Configuration goes out and comes in: a file taken along, changed, looked at, refused, and imported."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.axe import no_violations
from tests.browser.conftest import Visitor

pytestmark = pytest.mark.browser


def everywhere(visitor: Visitor) -> None:
    """Hold the open page to what every page promises, at two widths. A page chooses light or dark when it loads."""
    for width in (1440, 500):
        visitor.page.set_viewport_size({"width": width, "height": 900})
        no_violations(visitor.page)
        assert visitor.fits


def preview_file(visitor: Visitor, file: Path) -> None:
    visitor.page.get_by_label("File", exact=True).set_input_files(file)
    visitor.page.get_by_role("button", name="Preview").click()
    expect(visitor.page.get_by_role("heading", name=file.name)).to_be_visible()


@pytest.mark.long
def test_a_bundle_goes_out_is_changed_and_comes_in(ada: Visitor, tmp_path: Path) -> None:
    page = ada.at(1440, "dark").tab
    ada.go("/admin/config_admin/cerelease/")
    page.locator(".ce-nav").get_by_role("link", name="Import & export").click()
    everywhere(ada)
    page.get_by_text("Only some tables").click()
    page.get_by_label("Policies", exact=True).check()
    with page.expect_download() as taken:
        page.get_by_role("button", name="Download YAML").click()
    file = tmp_path / taken.value.suggested_filename
    taken.value.save_as(file)
    rows, ancestry = file.read_text().split("ancestry:\n")
    ancestry = f"ancestry:\n{ancestry}"
    assert "\nformat: convengine-configuration\nversion: 1\nbase:\n" in rows
    assert "\ntables:\n  ce_policy:\n" in rows

    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("alert")).to_contain_text("Choose a file")
    everywhere(ada)

    file.write_text(rows + "  - rule_type: REGEX\n    pattern: '('\n    response_text: No.\n" + ancestry)
    preview_file(ada, file)
    expect(page.get_by_role("alert")).to_contain_text("The file cannot be imported")
    expect(page.locator("#main")).to_contain_text("Policies, row 2 (line")
    expect(page.get_by_role("button", name="Import as one release")).to_have_count(0)
    everywhere(ada)
    page.get_by_role("link", name="Another file").click()

    added = "  - rule_type: CONTAINS\n    pattern: sort code\n    response_text: No bank details, please.\n"
    file.write_text(rows + added + ancestry)
    preview_file(ada, file)
    expect(page.get_by_role("row", name="Policies")).to_contain_text("1")
    expect(page.get_by_label("Reason for this change")).to_have_value("Import of configuration.yaml")
    everywhere(ada)
    page.get_by_label("Reason for this change").press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("Imported as release")
    everywhere(ada)
    page.get_by_role("link", name="Changes").click()
    expect(page.locator("#main")).to_contain_text("sort code")
