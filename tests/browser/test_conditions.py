"""Conditions as rows, by mouse and by keyboard."""

import json
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.axe import no_violations
from tests.browser.conftest import Visitor

pytestmark = pytest.mark.browser


def read_condition(visitor: Visitor) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(visitor.page.locator("#id_match_pattern").input_value())
    return found


def list_rows(visitor: Visitor) -> Locator:
    return visitor.page.locator(".ce-condition-row")


def test_a_condition_with_dates_is_built_by_mouse_told_tried_and_saved(ada: Visitor) -> None:
    page = ada.tab
    page.set_viewport_size({"width": 1440, "height": 900})
    ada.go("/admin/config_admin/cerule/add/")
    page.locator("#id_intent_code").fill("CANCEL_ORDER")
    page.locator("#id_state_code").fill("COLLECT")
    page.locator("#id_rule_type").select_option("CONDITION")
    expect(list_rows(ada)).to_have_count(1)
    expect(page.locator(".ce-editor").first).to_be_hidden()

    row = list_rows(ada).nth(0)
    row.get_by_label("Field", exact=True).fill("clock.today")
    row.get_by_label("Field", exact=True).press("Tab")
    row.get_by_label("Operator").select_option(label="is after")
    row.get_by_label("Value", exact=True).fill("today-2d")
    page.get_by_role("button", name="Add a group").click()
    nested = list_rows(ada).nth(1)
    nested.get_by_label("Field", exact=True).fill("message")
    nested.get_by_label("Field", exact=True).press("Tab")
    nested.get_by_label("Operator").select_option(label="contains")
    nested.get_by_label("Value", exact=True).fill("urgent")
    page.get_by_role("group", name="Group").get_by_role("button", name="Add a condition").click()
    third = list_rows(ada).nth(2)
    third.get_by_label("Field", exact=True).fill("turnNo")
    third.get_by_label("Field", exact=True).press("Tab")
    third.get_by_label("Operator").select_option(label="≥")
    third.get_by_label("Value", exact=True).fill("1")

    assert read_condition(ada) == {
        "combinator": "and",
        "not": False,
        "rules": [
            {"field": "clock.today", "operator": "after", "value": "today-2d"},
            {
                "combinator": "or",
                "not": False,
                "rules": [
                    {"field": "message", "operator": "contains", "value": "urgent"},
                    {"field": "turnNo", "operator": ">=", "value": 1},
                ],
            },
        ],
    }
    page.locator("#id_action").select_option("SET_INPUT_PARAM")
    page.locator("#id_action_value").fill("hurry:true")
    expect(page.locator("#ce-sentence")).to_contain_text(
        "When the day is after today minus 2 days, and "
        '(either the message contains "urgent" or the turn number is at least 1)'
    )
    page.locator("details.ce-try summary").first.click()
    page.locator("#id_match_pattern_try_text").fill("it is late")
    page.locator("#id_match_pattern_try_values").fill("reason=pain; params.vip=true")
    page.locator("#id_match_pattern_try_text").press("Enter")
    expect(page.locator("#id_match_pattern_try_result")).to_contain_text("The condition is met")
    expect(page.locator("#id_match_pattern_try_result")).to_contain_text("is after today minus 2 days")
    no_violations(page)
    assert ada.fits

    ada.save()
    assert "When the day is after today minus 2 days" in ada.text


def test_a_condition_is_built_by_keyboard_and_changed_again_in_the_dark(ada: Visitor) -> None:
    page = ada.tab
    page.set_viewport_size({"width": 768, "height": 900})
    page.emulate_media(color_scheme="dark")
    ada.go("/admin/config_admin/cerule/add/")
    page.locator("#id_rule_type").select_option("CONDITION")
    list_rows(ada).nth(0).get_by_label("Field", exact=True).focus()
    page.keyboard.type("clock.weekday")
    page.keyboard.press("Tab")
    page.keyboard.type("is one")
    page.keyboard.press("Tab")
    page.keyboard.type("Saturday, Sunday")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Remove this condition")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(list_rows(ada).nth(1).get_by_label("Field", exact=True)).to_be_focused()
    page.keyboard.type("params.vip")
    page.keyboard.press("Tab")
    page.keyboard.type("is yes")

    page.get_by_label("Which rows must hold").select_option(label="Any of these holds")
    assert read_condition(ada) == {
        "combinator": "or",
        "not": False,
        "rules": [
            {"field": "clock.weekday", "operator": "isOneOf", "value": ["Saturday", "Sunday"]},
            {"field": "params.vip", "operator": "isYes"},
        ],
    }
    page.get_by_role("button", name="Remove this condition").nth(1).press("Enter")
    expect(page.get_by_role("button", name="Add a condition")).to_be_focused()
    page.get_by_role("button", name="Show the JSON").click()
    page.locator("#id_match_pattern").evaluate(
        "(area) => { area.value = '{'; area.dispatchEvent(new Event('input')); }"
    )
    expect(page.get_by_text("This condition cannot be shown as rows. Correct the JSON below.")).to_be_visible()
    no_violations(page)
    assert ada.fits


@pytest.mark.long
def test_a_path_that_rows_can_say_is_offered_as_rows(ada: Visitor) -> None:
    page = ada.tab
    ada.go("/admin/config_admin/cerule/add/")
    page.locator("#id_rule_type").select_option("JSON_PATH")
    page.locator("#id_match_pattern").fill("$[?(@.schemaComplete == true && @.turnNo > 2)]")
    page.get_by_role("button", name="Edit as fields and values").click()

    expect(page.locator("#id_rule_type")).to_have_value("CONDITION")
    expect(list_rows(ada)).to_have_count(2)
    expect(list_rows(ada).nth(1).get_by_label("Field", exact=True)).to_have_value("turnNo")
    expect(page.get_by_role("button", name="Edit as fields and values")).to_be_hidden()
