"""A bot comes over in the browser by the keyboard alone: its archive, its plan, its draft."""

from pathlib import Path
from shutil import make_archive

import pytest
from playwright.sync_api import expect

from tests.browser.axe import no_violations
from tests.browser.conftest import Visitor

pytestmark = pytest.mark.browser
CONTRIB = Path(__file__).parents[1] / "config_admin" / "contrib" / "come_over"
URL = "/admin/config_admin/cedraft/come-over/"


@pytest.mark.long
@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (390, "dark")])
def test_a_bot_comes_over_by_the_keyboard(ada: Visitor, tmp_path: Path, width: int, scheme: str) -> None:
    archive = make_archive(str(tmp_path / f"kayak_{scheme}"), "zip", CONTRIB, "kayak_hire")
    page = ada.at(width, scheme).tab
    ada.go(URL)
    no_violations(page)
    page.get_by_label("File", exact=True).set_input_files(archive)
    ada.tab_to(page.get_by_role("button", name="Show the plan"))
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name=f"kayak_{scheme}")).to_be_focused()
    expect(page.locator("#main")).to_contain_text("need a person")
    no_violations(page)
    assert ada.fits

    ada.tab_to(page.locator("section:has(#outcome-3) summary").first)
    expect(page.get_by_text("ask_swimming", exact=True)).to_be_hidden()
    page.keyboard.press("Enter")
    expect(page.get_by_text("ask_swimming", exact=True)).to_be_visible()
    no_violations(page)
    ada.tab_to(page.get_by_role("button", name="Make a draft"))
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name=f"From kayak_{scheme}").first).to_be_visible()
    expect(page.locator("#main")).to_contain_text("conversations do not use it yet")
    page.get_by_role("complementary", name="Draft").get_by_role("button", name="Leave").press("Enter")
    expect(page.locator("#main")).to_contain_text("You left the draft")
