"""A browser without JavaScript: pages are there, forms answer when they are sent, and lists are not covered."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import Server, Visitor

pytestmark = [pytest.mark.browser, pytest.mark.long]


@pytest.fixture
def plain(server: Server, browser: Browser) -> Iterator[Visitor]:
    """An analyst, signed in, whose browser runs no script."""
    visitor = Visitor(server, browser.new_context(java_script_enabled=False).new_page())
    yield visitor.log_in("analyst")
    visitor.page.context.close()
    assert visitor.troubles == []


def test_a_rule_is_found_corrected_and_confirmed_without_a_script(plain: Visitor) -> None:
    plain.page.locator(".ce-nav").get_by_role("link", name="Rules").click()
    plain.page.locator("#result_list tbody th a").first.click()
    plain.page.locator("#id_description").wait_for()

    plain.go("/admin/config_admin/cerule/add/")
    form = {"intent_code": "THANKS", "state_code": "ANY", "match_pattern": "(?=x", "action_value": "NOWHERE"}
    for name, value in form.items():
        plain.page.locator(f"#id_{name}").fill(value)
    plain.page.locator("#id_rule_type").select_option("REGEX")
    plain.page.locator("#id_action").select_option("SET_STATE")
    plain.page.locator("#id_enabled").uncheck(force=True)
    plain.save()
    expect(plain.page.locator(".field-match_pattern")).to_contain_text("REGEX_UNSUPPORTED")

    plain.page.locator("#id_match_pattern").fill("thanks")
    plain.save()
    if plain.page.get_by_label("Save anyway").count():
        plain.page.get_by_label("Save anyway").check()
        plain.save()
    assert "was added successfully" in plain.text


def test_a_flow_of_two_fields_is_made_in_another_order_without_a_script(plain: Visitor) -> None:
    page = plain.go("/admin/config_admin/ceintent/start/").page
    page.get_by_label("Collect and confirm").check()
    for name, text in (
        ("code", "PLAIN"),
        ("title", "Plain page"),
        ("phrases", "plain page"),
        ("field-0-title", "Name"),
    ):
        page.locator(f"#id_{name}").fill(text)
    page.get_by_role("button", name="Add a field").click()
    page.locator("#id_field-1-title").fill("Day")
    for number, order in ((0, "2"), (1, "1")):
        page.locator(f"#id_field-{number}-ORDER").fill(order)
    page.get_by_label("Reason for this change").fill("a plain browser")
    page.get_by_role("button", name="Create").click()
    expect(page.locator("#id_field-0-title")).to_have_value("Day")
