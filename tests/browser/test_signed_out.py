"""A session that ends while somebody writes: the text stays, and is saved after signing in again."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.axe import no_violations
from tests.browser.conftest import SCREENS, Visitor

pytestmark = pytest.mark.browser
WORDS = "written before the night"


@SCREENS
def test_who_is_signed_out_meanwhile_loses_no_word(somebody: Callable[[], Visitor], width: int, scheme: str) -> None:
    ben = somebody().sign_in("analyst").go("/admin/config_admin/ceresponse/11/change/")
    page = ben.at(width, scheme).page
    page.locator("#id_description").fill(f"{WORDS} ({scheme})")
    ben.give_reason()
    page.context.clear_cookies(name="sessionid")
    page.get_by_role("button", name="Save", exact=True).press("Enter")

    told = page.get_by_role("alert").filter(has_text="Not sent: you are signed out.")
    expect(told).to_be_focused()
    no_violations(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    with page.context.expect_page() as opened:
        told.get_by_role("link", name="Sign in").click()
    again = Visitor(ben.server, opened.value)
    again.sign_in("analyst")
    again.page.close()
    # Signing in gave all forms another secret; this page learns it when it is sent.
    ben.save()

    assert "is active" in ben.text
    ben.go("/admin/config_admin/ceresponse/11/change/")
    expect(page.locator("#id_description")).to_have_value(f"{WORDS} ({scheme})")
    assert again.troubles == []
