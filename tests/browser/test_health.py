"""Health in a real browser: a finding with its input, accepted for a reason, told again, and told after a save."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.axe import no_violations
from tests.browser.conftest import SCREENS, Visitor

pytestmark = pytest.mark.browser

HEALTH = "/admin/config_admin/cerule/health/"
#: A rule that goes elsewhere on texts on which another of the demonstration's goes on.
RIVAL = {
    "rule_id": 9100, "intent_code": "CANCEL_ORDER", "state_code": "COLLECT", "phase": "POST_SCHEMA_EXTRACTION",
    "rule_type": "JSON_PATH", "match_pattern": "$[?(@.schemaComplete == true)]", "action": "SET_STATE",
    "action_value": "REFUSED", "priority": 10,
}  # fmt: skip


def with_rival(ada: Visitor, *, enabled: bool) -> None:
    ada.bring({"ce_rule": [{**RIVAL, "enabled": enabled}]})


def open_finished_check(visitor: Visitor) -> Page:
    """The page, once the check is through."""
    return visitor.go(HEALTH).wait_for_job().page


def finding(page: Page) -> Locator:
    return (
        page.locator("section.ce-card")
        .filter(has_text="Rule 9100")
        .filter(has_text="Rules contradict each other")
        .first
    )


@SCREENS
def test_a_collision_is_shown_with_its_input_and_accepted_by_keyboard(
    ada: Visitor, somebody: Callable[[], Visitor], width: int, scheme: str
) -> None:
    with_rival(ada, enabled=True)
    ben = somebody().log_in("analyst").at(width, scheme)
    page = open_finished_check(ben)
    card = finding(page)
    expect(card).to_contain_text("orderNumber")
    assert card.get_by_role("link").count() >= 2
    no_violations(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    summary = card.locator("summary").get_by_text("Accept", exact=True)
    summary.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.type("a trial")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    page = open_finished_check(ben)
    accepted = page.locator("section", has=page.get_by_role("heading", name="Accepted"))
    expect(accepted).to_contain_text("a trial – analyst")
    again = accepted.get_by_role("button", name="Show again").first
    with page.expect_navigation():
        again.press("Enter")
    expect(finding(open_finished_check(ben))).to_be_visible()
    with_rival(ada, enabled=False)
    assert finding(open_finished_check(ben)).count() == 0
