"""Background jobs: seen at a glance, and run now by whoever may, by keyboard, wide and narrow."""

import pytest
from playwright.sync_api import expect

from tests.browser.axe import no_violations
from tests.browser.conftest import Visitor

pytestmark = [pytest.mark.browser, pytest.mark.long]


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (768, "dark")])
def test_a_job_is_told_to_run_by_keyboard(ada: Visitor, width: int, scheme: str) -> None:
    tab = ada.tab
    tab.set_viewport_size({"width": width, "height": 900})
    tab.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    ada.go("/admin/ce_jobs/cejob/")
    expect(tab.get_by_text("every night at 03:00").first).to_be_visible()
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
    tab.get_by_role("link", name="Remove old records of jobs").focus()
    with tab.expect_navigation():
        tab.keyboard.press("Enter")

    tab.get_by_role("button", name="Run now").focus()
    with tab.expect_navigation():
        tab.keyboard.press("Enter")

    expect(tab.get_by_text("the next worker runs it")).to_be_visible()
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
    no_violations(tab)
