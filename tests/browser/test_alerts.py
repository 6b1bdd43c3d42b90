"""Alerts: a rule is made with its past in sight, fires, is seen on Home, and is silenced by keyboard."""

import pytest
from playwright.sync_api import expect

from tests.browser.axe import no_violations
from tests.browser.conftest import SCREENS, Server, Visitor

pytestmark = [pytest.mark.browser, pytest.mark.long]


@SCREENS
def test_an_alert_fires_and_is_silenced(server: Server, ada: Visitor, width: int, scheme: str) -> None:
    for text in ("a toboggan, please", "three umbrellas", "a toboggan, please"):
        server.say(text)
    server.count_turns()
    title = f"Nobody understands ({scheme})"

    page = ada.at(width, scheme).go("/admin/audit/cealertrule/add/").page
    page.get_by_label("Title").fill(title)
    page.get_by_label("Limit").fill("5")
    page.get_by_label("At least").fill("2")
    preview = page.get_by_role("region", name="What the rule would have done")
    expect(preview).to_contain_text("Not understood over 5 % for an hour, with at least 2 turns.")
    expect(preview).to_contain_text("it fires")
    no_violations(page)
    assert ada.fits
    ada.save()
    expect(page.locator("#main")).to_contain_text(title)
    no_violations(page)
    assert ada.fits

    server.manage("jobs", "--once", "check_alerts")
    ada.go("/admin/")
    alert = page.get_by_text(f"{title}: ")
    expect(alert).to_be_visible()
    ada.go("/admin/audit/cealert/")
    with page.expect_navigation():
        page.get_by_role("link", name=title).click()
    expect(page.locator("#main")).to_contain_text("Firing")
    no_violations(page)
    assert ada.fits

    page.get_by_label("Reason").focus()
    page.keyboard.type("We know, phrases come today")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    expect(page.locator("#main")).to_contain_text("Firing, silenced")
    expect(page.locator("#main")).to_contain_text("We know, phrases come today")
    no_violations(page)
    ada.go("/admin/")
    expect(alert).to_have_count(0)
