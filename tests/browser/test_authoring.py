"""Authoring in a real browser: from the workspace of an intent to a rule that is judged and tried before it counts."""

import json

import pytest
from playwright.sync_api import expect

from tests.browser.axe import no_violations
from tests.browser.conftest import SCREENS, Server, Visitor

pytestmark = pytest.mark.browser

WORKSPACE = "/admin/config_admin/ceintent/CANCEL_ORDER/workspace/"
COMPLETE = "When the form of CANCEL_ORDER is complete in state COLLECT, set state to CONFIRM."


def open_rule(visitor: Visitor) -> None:
    """The form of the rule that ends the collecting, by way of the workspace."""
    visitor.go(WORKSPACE)
    visitor.page.get_by_role("link", name=COMPLETE).click()
    visitor.page.get_by_label("Reason for this change").wait_for()


@pytest.mark.long
@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (768, "dark")])
def test_a_row_is_edited_from_the_workspace_and_saving_leads_back(ada: Visitor, width: int, scheme: str) -> None:
    ada.tab.set_viewport_size({"width": width, "height": 900})
    ada.tab.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    open_rule(ada)
    ada.page.get_by_label("Description").fill(f"everything is known: ask for confirmation ({scheme})")
    ada.save()

    assert ada.page.url.endswith(WORKSPACE)
    assert f"ask for confirmation ({scheme})" in ada.text
    assert ada.fits


@pytest.mark.long
@pytest.mark.parametrize(("width", "scheme"), [(1440, "dark"), (768, "light")])
def test_a_row_is_edited_below_its_line_by_keyboard(ada: Visitor, width: int, scheme: str) -> None:
    ada.tab.set_viewport_size({"width": width, "height": 900})
    ada.tab.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    ada.go(WORKSPACE)
    button = ada.page.get_by_role("button", name=f"Edit here: {COMPLETE}")
    button.press("Enter")
    form = ada.page.frame_locator("iframe.ce-frame")
    expect(form.locator("#id_phase")).to_be_focused()
    form.get_by_label("Description").fill(f"edited below its line ({scheme})")

    # What is typed is not lost by closing: it is asked for first.
    ada.page.once("dialog", lambda asked: asked.dismiss())
    button.press("Enter")
    expect(button).to_have_attribute("aria-expanded", "true")

    form.get_by_label("Reason for this change").fill("a better word")
    with ada.page.expect_navigation():
        form.get_by_role("button", name="Save", exact=True).press("Enter")
    expect(button).to_be_focused()
    assert f"edited below its line ({scheme})" in ada.text
    assert "was changed. Release" in ada.text
    assert ada.fits


@pytest.mark.long
def test_a_row_is_added_below_its_group_and_errors_stay_there(ada: Visitor) -> None:
    ada.go(WORKSPACE)
    ada.page.locator("#part-ce_response").get_by_role("button", name="Add here").click()
    form = ada.page.frame_locator("iframe.ce-frame")
    form.get_by_label("Reason for this change").fill("an answer for those who wait")
    form.get_by_role("button", name="Save", exact=True).click()
    expect(form.get_by_role("link", name="“State”: Enter a state, or ANY for all states")).to_be_visible()
    expect(form.locator("#id_state_code")).to_be_focused()

    form.locator("#id_state_code").fill("ANY")
    form.locator("#id_response_type").select_option("EXACT")
    form.locator("#id_exact_text").fill("We are on it.")
    with ada.page.expect_navigation():
        form.get_by_role("button", name="Save", exact=True).click()
    assert "We are on it." in ada.text


def test_the_workspace_tells_what_fired(ada: Visitor, server: Server) -> None:
    server.say("I want to cancel order 10021")
    ada.go(f"{WORKSPACE}?state=COLLECT")

    row = ada.page.get_by_role("row").filter(has_text=COMPLETE)
    assert "×" in row.inner_text()
    assert "OFFER" not in ada.page.locator("#part-ce_rule").inner_text()


@SCREENS
def test_a_rule_is_said_and_judged_while_it_is_written(ada: Visitor, width: int, scheme: str) -> None:
    open_rule(ada.at(width, scheme))
    said = ada.page.locator("#ce-sentence")
    expect(said).to_have_text(COMPLETE)

    ada.page.locator("#id_rule_type").select_option("JSON_PATH")
    ada.page.locator("#id_match_pattern").fill("$[?(@.schemaComplete ==")
    expect(ada.page.locator("#id_match_pattern_live")).to_contain_text("This is not a valid JSON path")
    ada.page.locator("#id_match_pattern").fill("$[?(@.schemaComplete == false)]")
    expect(ada.page.locator("#id_match_pattern_live")).to_be_empty()
    expect(said).to_have_text(
        "When the form is not complete in state COLLECT of intent CANCEL_ORDER, set state to CONFIRM."
    )


@SCREENS
def test_a_path_is_tried_against_a_stored_turn_by_keyboard(
    ada: Visitor, server: Server, width: int, scheme: str
) -> None:
    ada.at(width, scheme)
    server.say("I want to cancel order 10021")
    open_rule(ada)
    box = ada.page.locator(".ce-try").first
    box.locator("summary").focus()
    ada.page.keyboard.press("Enter")
    turn = box.get_by_label("or a stored turn")
    expect(turn.locator("option").nth(1)).to_contain_text("I want to cancel order 10021")
    turn.focus()
    ada.page.keyboard.press("ArrowDown")
    ada.page.keyboard.press("Tab")
    ada.page.keyboard.press("Enter")

    expect(box).to_contain_text("The condition is met.")
    expect(box).to_contain_text("schemaComplete")


def test_a_pattern_is_tried_against_a_typed_text(ada: Visitor) -> None:
    ada.go("/admin/config_admin/ceintentclassifier/add/")
    ada.page.locator("#id_rule_type").select_option("REGEX")
    ada.page.locator("#id_pattern").fill("cancel|refund")
    ada.page.locator("#id_intent_code").fill("REFUND")
    box = ada.page.locator(".ce-try").first
    box.locator("summary").click()
    box.get_by_label("Message").fill("please cancel 48392")
    box.get_by_label("Message").press("Enter")

    expect(box).to_contain_text("The message leads to REFUND.")
    expect(box).to_contain_text("CANCEL_ORDER also matches, by phrase")


@SCREENS
def test_a_rule_is_made_by_keyboard_alone(ada: Visitor, width: int, scheme: str) -> None:
    ada.at(width, scheme).go("/admin/config_admin/cerule/add/")
    keys = ada.page.keyboard
    typed = (
        *(("#id_phase", "POST_SCHEMA_EXTRACTION"), ("#id_intent_code", "THANKS"), ("#id_state_code", "ANY")),
        *(("#id_rule_type", "REGEX"), (".field-match_pattern .cm-content", "^so be it$"), ("#id_action", "Set state")),
    )
    for field, text in typed:
        ada.tab_to(ada.page.locator(field))
        keys.type(text)
    ada.tab_to(ada.page.locator("#id_action_value"))
    keys.type("CONF")
    keys.press("ArrowDown")
    keys.press("Enter")
    expect(ada.page.locator("#id_action_value")).to_have_value("CONFIRM")
    expect(ada.page.locator("#ce-sentence")).to_have_text(
        "When the message matches the pattern of “so be it” in intent THANKS, set state to CONFIRM."
    )
    ada.tab_to(ada.page.locator("#id_enabled"))
    keys.press("Space")
    ada.tab_to(ada.page.locator("#id_reason"))
    keys.type("Without a mouse")
    with ada.page.expect_navigation():
        keys.press("Enter")
    if ada.page.get_by_label("Save anyway").count():
        ada.tab_to(ada.page.get_by_label("Save anyway"))
        keys.press("Space")
        ada.tab_to(ada.page.locator("#id_reason"))
        with ada.page.expect_navigation():
            keys.press("Enter")

    assert "was added successfully" in ada.text


@SCREENS
def test_the_value_follows_the_action(ada: Visitor, width: int, scheme: str) -> None:
    ada.at(width, scheme)
    ada.go("/admin/config_admin/cerule/add/")
    ada.page.locator("#id_action").select_option("SET_INPUT_PARAM")
    value = ada.page.locator("#id_action_value")
    ada.page.get_by_label("Parameter").fill("amount")
    ada.page.get_by_label("Value", exact=True).fill("12")
    assert value.input_value() == "amount:12"

    ada.page.get_by_role("button", name="Add another", exact=True).click()
    ada.page.get_by_label("Parameter").nth(1).fill("note")
    ada.page.get_by_label("Value", exact=True).nth(1).fill("as asked")
    assert json.loads(value.input_value()) == {"amount": 12, "note": "as asked"}

    value.fill('{"vip":true}')
    assert ada.page.get_by_label("Parameter").input_value() == "vip"
    ada.page.locator("#id_action").select_option("SET_STATE")
    expect(ada.page.get_by_label("Parameter")).to_be_hidden()

    ada.page.locator("#id_action").select_option("SET_PREFERENCE")
    ada.page.get_by_label("Preference").fill("planner")
    offered = "list => [...document.getElementById(list).options].map(one => one.value)"
    assert ada.page.evaluate(offered, "id_action_value_names") == ["planner", "intent_resolver", "tool_set"]
    assert ada.page.evaluate(offered, "id_action_value_ids") == ["built-in"]
    ada.page.get_by_label("Value", exact=True).fill("built-in")
    assert value.input_value() == "planner:built-in"


@SCREENS
def test_a_schema_is_a_table_of_fields_in_step_with_its_json(ada: Visitor, width: int, scheme: str) -> None:
    ada.at(width, scheme)
    ada.go("/admin/config_admin/ceoutputschema/add/")
    area = ada.page.locator("#id_json_schema")
    ada.page.get_by_role("button", name="Add a field").press("Enter")
    ada.page.keyboard.type("size")
    ada.page.keyboard.press("Tab")
    expect(ada.page.get_by_label("Type of size")).to_be_focused()
    ada.page.get_by_label("Required of size").check()
    ada.page.get_by_label("Choices of size", exact=True).fill("small, large")
    ada.page.get_by_label("Synonyms of choices of size").fill("large = big, huge")
    ada.page.keyboard.press("Tab")

    size = {"type": "string", "enum": ["small", "large"], "x-synonyms": {"large": ["big", "huge"]}}
    assert json.loads(area.input_value()) == {"type": "object", "properties": {"size": size}, "required": ["size"]}

    kept = {"type": "integer", "minimum": 1}
    area.fill(json.dumps({"type": "object", "properties": {"count": kept}, "additionalProperties": False}))
    ada.page.get_by_label("Example of count").fill("3")
    ada.page.keyboard.press("Tab")
    found = json.loads(area.input_value())
    assert found["properties"]["count"] == kept | {"examples": [3]}
    assert found["additionalProperties"] is False

    area.fill("{")
    assert "cannot be shown as a table of fields" in ada.text


def test_an_editor_completes_known_names_and_writes_what_is_saved(ada: Visitor) -> None:
    open_rule(ada)
    ada.page.locator("#id_rule_type").select_option("JSON_PATH")
    editor = ada.page.get_by_role("textbox", name="Condition, as code")
    expect(editor.locator("span").first).to_be_visible()
    ada.page.locator("label[for=id_match_pattern]").click()
    expect(editor).to_be_focused()
    ada.page.keyboard.press("Control+a")
    ada.page.keyboard.type("$[?(@.inputParams.dialogue_ac")
    expect(ada.page.locator(".cm-tooltip-autocomplete li").first).to_contain_text("dialogue_act")
    # An editor takes no Enter for a list that nobody can have seen yet.
    ada.page.wait_for_timeout(200)
    ada.page.keyboard.press("Enter")
    ada.page.keyboard.type(" == 'AFFIRM'")

    assert ada.page.locator("#id_match_pattern").input_value() == "$[?(@.inputParams.dialogue_act == 'AFFIRM')]"
    expect(ada.page.locator("#ce-sentence")).to_contain_text("When the user says yes")
    ada.page.keyboard.press("Tab")
    expect(ada.page.locator(".ce-try summary").first).to_be_focused()


@pytest.mark.long
def test_an_editor_follows_the_kind_of_condition_and_marks_json_that_cannot_be_read(ada: Visitor) -> None:
    ada.go("/admin/config_admin/ceoutputschema/add/")
    ada.page.get_by_role("textbox", name="JSON Schema, as code").fill('{"type": }')
    expect(ada.page.locator(".cm-lintRange-error, .cm-lintPoint-error").first).to_be_attached()

    ada.go("/admin/config_admin/cerule/add/")
    editor = ada.page.get_by_role("textbox", name="Condition, as code")
    editor.fill("(yes|no)+")
    assert editor.locator("span").count() == 0
    ada.page.locator("#id_rule_type").select_option("REGEX")
    expect(editor.locator("span").first).to_be_visible()


@pytest.mark.long
def test_what_is_very_long_fits_a_narrow_screen(ada: Visitor) -> None:
    ada.tab.set_viewport_size({"width": 600, "height": 900})
    ada.go("/admin/config_admin/cerule/add/")
    ada.page.locator("#id_rule_type").select_option("REGEX")
    ada.page.get_by_role("textbox", name="Condition, as code").fill("(a|b)" * 800)
    ada.page.get_by_label("Description").fill("<script>alert(1)</script>" + "x" * 300)
    ada.page.locator("#id_state_code").fill("X" * 200)
    ada.save()

    assert "longer than 2000 characters" in ada.text
    assert ada.page.get_by_label("Description").input_value().endswith("x" * 300)
    assert ada.page.evaluate("document.documentElement.scrollWidth") <= 600
    no_violations(ada.page)
