import json
from dataclasses import replace
from typing import Any

import pytest

from config_admin.editing.field_previews import FIELD_PREVIEWS
from config_admin.editing.sample_turns import sample_typed_message
from config_admin.validation.stored_columns import control_plane
from convengine.engine.turn import rows
from tests.builders import (
    make_action,
    make_classifier,
    make_direct_tool,
    make_intent,
    make_policy,
    make_response,
    make_rule,
    make_snapshot,
    make_verbose,
)

SNAPSHOT = make_snapshot(
    make_intent("REFUND"), make_intent("CANCEL"), make_classifier("CANCEL", "back", classifier_id=900)
)


def try_field(row: Any, column: str, text: str) -> Any:
    moment = sample_typed_message(text, SNAPSHOT, getattr(row, "intent_code", None), getattr(row, "state_code", None))
    return FIELD_PREVIEWS[row.table, column].run(row, column, moment)


@pytest.mark.parametrize(
    ("row", "column", "text", "expected"),
    [
        (make_rule(rule_type="REGEX", match_pattern="loan"), "match_pattern", "a LOAN", True),
        (make_rule(rule_type="REGEX", match_pattern="loan"), "match_pattern", "a car", False),
        (make_rule(match_pattern="AFFIRM", match_target="DIALOGUE_ACT"), "match_pattern", "affirm", True),
        (
            make_rule(rule_type="JSON_PATH", match_pattern="$[?(@.state == 'S')]", state_code="S"),
            "match_pattern", "hi", True,
        ),
        (make_classifier("REFUND", "money"), "pattern", "my money", True),
        (make_classifier("REFUND", "money"), "pattern", "my car", False),
        (make_policy("CONTAINS", "cvv"), "pattern", "the CVV", True),
        (make_verbose(step_match="REGEX", step_value="^Rules"), "step_value", "RulesStep", True),
        (make_verbose(step_value="RulesStep"), "step_value", "McpToolStep", False),
    ],
)  # fmt: skip
def test_a_condition_holds_or_not(row: Any, column: str, text: str, expected: bool) -> None:
    outcome = try_field(row, column, text)

    assert (outcome.holds, outcome.failed) == (expected, False)


def test_one_of_several_texts_is_shown() -> None:
    outcome = try_field(make_response("Hello.\n{% or %}\nHi."), "exact_text", "hi")

    number = ["Hello.", "Hi."].index(outcome.text) + 1
    assert outcome.notes[0] == f"Text {number} of 2."


def test_buttons_are_named_below_the_text() -> None:
    outcome = try_field(make_response('Hello.{{ button("Prices", "how much is it") }}'), "exact_text", "hi")

    assert (outcome.text, outcome.notes[0]) == ("Hello.", "Button “Prices” sends “how much is it”.")


@pytest.mark.parametrize(
    ("row", "column", "headline"),
    [
        (make_rule(rule_type="REGEX", match_pattern="("), "match_pattern", "missing"),
        (make_rule(rule_type="JSON_PATH", match_pattern="$[?("), "match_pattern", "ends too early"),
        (make_rule(action="SET_JSON", action_value="a b:c"), "action_value", "Use key:path"),
        (make_rule(), "action_value", "(SET_JSON)"),
        (make_classifier("REFUND", "(", rule_type="REGEX"), "pattern", "missing"),
        (make_response("{{ 1 / 0 }}"), "exact_text", "cannot be rendered"),
        (make_direct_tool("t", args_template={"a": "{{ 1 / 0 }}"}), "args_template", "cannot be filled in"),
        (make_verbose(step_match="REGEX", step_value="("), "step_value", "missing"),
    ],
)
def test_what_cannot_be_tried_says_why(row: Any, column: str, headline: str) -> None:
    outcome = try_field(row, column, "x")

    assert outcome.failed
    assert headline in outcome.headline


def test_the_values_that_were_compared_are_shown() -> None:
    row = make_rule(rule_type="JSON_PATH", match_pattern="$[?(@.userText == 'bye')]")

    (operand,) = try_field(row, "match_pattern", "hi").operands

    assert (operand["path"], operand["value"], operand["literal"], operand["result"]) == (
        "@.userText",
        "hi",
        "bye",
        False,
    )


def test_a_condition_is_tried_on_typed_values_and_shows_each_row_in_words() -> None:
    document = {
        "combinator": "and",
        "rules": [
            {"field": "date", "operator": "before", "value": "2026-12-05"},
            {"field": "guests", "operator": "<=", "value": "params.limit", "valueSource": "field"},
            {"field": "clock.now", "operator": "after", "value": "today-1d"},
        ],
    }
    row = make_rule(rule_type="CONDITION", match_pattern=json.dumps(document))
    moment = sample_typed_message("hi", SNAPSHOT, "ANY", "ANY", "date=2026-12-04; guests = 4\nparams.limit=4;nothing")

    outcome = FIELD_PREVIEWS[row.table, "match_pattern"].run(row, "match_pattern", moment)

    assert outcome.holds
    first, second, third = outcome.operands
    assert (first["phrase"], first["value"]) == ("is before 2026-12-05", "2026-12-04")
    assert (second["phrase"], second["value"]) == ("is at most params.limit (4)", "4")
    assert third["phrase"].startswith("is after today minus 1 day (2")


def test_a_phrase_tells_which_other_intents_it_would_collide_with() -> None:
    outcome = try_field(make_classifier("REFUND", "money"), "pattern", "money back")

    assert outcome.notes == ["CANCEL also matches, by phrase 900: back"]


def test_a_phrase_is_tried_as_if_it_were_saved_and_tells_how_sure_it_is() -> None:
    row = make_classifier("REFUND", "I was charged twice", rule_type="PHRASE", classifier_id=901)
    outcome = try_field(row, "pattern", "so I was charged money twice")

    assert (outcome.headline, outcome.holds) == ("The message leads to REFUND.", True)
    assert outcome.notes[0].startswith("REFUND: confidence ")
    assert outcome.notes[0].endswith("The nearest phrase is “I was charged twice”.")
    assert try_field(row, "pattern", "hello").headline == "No match."
    assert try_field(replace(row, pattern="?!"), "pattern", "hello").failed
    taken = try_field(row, "pattern", "charged twice, send it back")
    assert (taken.headline, taken.holds) == ("The message leads to CANCEL.", False)
    assert taken.notes[0] == "Pattern 900 of CANCEL matches, too."


def test_what_a_model_judges_is_not_asked() -> None:
    outcome = try_field(make_policy("LLM", "insults"), "pattern", "x")

    assert (outcome.holds, outcome.failed) == (None, False)


def test_a_text_is_filled_in_and_names_that_nothing_sets_are_told() -> None:
    outcome = try_field(make_response("You said {{ userText }}, {{ nickname }}."), "exact_text", "hi")

    assert outcome.text == "You said hi, ."
    assert outcome.notes == ["No value for nickname in this turn."]
    assert try_field(make_response("{{ nickname }}"), "exact_text", "hi").holds is False


def test_arguments_of_a_tool_are_filled_in() -> None:
    outcome = try_field(make_direct_tool("t", args_template={"q": "{{ userText }}"}), "args_template", "hi")

    assert outcome.text == '{\n  "q": "hi"\n}'


def test_what_a_path_copies_is_shown() -> None:
    assert try_field(make_rule(action="SET_JSON", action_value="text:$.userText"), "action_value", "hi").text == "hi"
    assert try_field(make_rule(action="SET_JSON", action_value="text:$.nothing"), "action_value", "hi").holds is False


def test_trials_are_of_columns_that_there_are() -> None:
    for table, column in FIELD_PREVIEWS:
        assert column in rows.columns(rows.ROW_TYPE_OF[table])
        assert table in control_plane()
    assert (make_action("A").table, "action_key") not in FIELD_PREVIEWS


def test_what_a_rule_compared_is_told_in_words() -> None:
    outcome = try_field(make_rule(rule_type="REGEX", match_pattern="loan|credit"), "match_pattern", "a loan please")

    assert [(operand["name"], operand["phrase"]) for operand in outcome.operands] == [
        ("the message", "matches the pattern of “loan” or “credit”")
    ]


def test_what_to_do_about_a_pattern_that_cannot_be_used_is_said_of_phrases_too() -> None:
    row = make_classifier("REFUND", "a(?=b)", rule_type="REGEX")
    policy = make_policy("REGEX", "a(?=b)")

    results = [try_field(each, "pattern", "back") for each in (row, policy)]

    assert results[0].failed
    assert set(results[0].notes) >= set(results[1].notes) - {""} != set()
