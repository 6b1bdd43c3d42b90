import pytest

from config_admin.workplace.intent_overview import describe_row, list_sections, list_states, list_unanswered_states
from convengine.engine.turn import rows
from convengine.engine.turn.rows import Row
from tests.builders import (
    make_action,
    make_classifier,
    make_direct_tool,
    make_edge,
    make_intent,
    make_response,
    make_rule,
    make_schema,
    make_server,
    make_snapshot,
    make_tool,
    make_verbose,
)

REFUND = make_intent("REFUND")
EXTRACTED = {"phase": "POST_SCHEMA_EXTRACTION"}


def titles(*all_rows: Row, state: str = "") -> dict[str, int]:
    shown_sections = list_sections(make_snapshot(REFUND, *all_rows), "REFUND", state)
    return {section.title: section.count for section in shown_sections if section.count}


def test_every_kind_of_row_that_names_the_intent_has_its_section() -> None:
    scope = {"intent_code": "REFUND"}
    counts = titles(
        make_classifier("REFUND", "money back"),
        make_rule(**scope),
        make_response(**scope),
        make_schema("REFUND", {"order": {}}),
        make_action("PAY", **scope),
        make_edge("A", "B", **scope),
        make_tool("t", **scope),
        make_direct_tool("t", **scope),
        make_server("s", **scope),
        make_verbose(**scope),
        make_rule(intent_code="OTHER"),
    )

    assert counts == dict.fromkeys(
        (
            *("Phrases", "Form", "Rules", "Answers", "Pending actions", "Tool calls"),
            *("Tools", "MCP servers", "State graph", "Progress texts"),
        ),
        1,
    )


def test_rules_stand_phase_by_phase_in_the_order_in_which_they_are_tried() -> None:
    everywhere = make_rule(**EXTRACTED)
    any_state = make_rule(intent_code="REFUND", **EXTRACTED, priority=1)
    late = make_rule(intent_code="REFUND", state_code="COLLECT", **EXTRACTED, priority=20)
    soon = make_rule(intent_code="REFUND", state_code="COLLECT", **EXTRACTED, priority=10)
    other = make_rule(intent_code="REFUND", phase="POST_DIALOGUE_ACT")
    snapshot = make_snapshot(REFUND, everywhere, any_state, late, soon, other)

    rules = next(section for section in list_sections(snapshot, "REFUND", "COLLECT") if section.title == "Rules")
    shown = {group.title: group.shown for group in rules.groups if group.shown}

    assert shown == {
        "After the dialogue act": [other],
        "After data collection": [soon, late, any_state, everywhere],
    }
    assert tuple(shown["After data collection"]) == snapshot.rules("POST_SCHEMA_EXTRACTION", "REFUND", "COLLECT")


def test_a_state_leaves_out_what_no_conversation_in_it_can_meet() -> None:
    placed_rows = [
        *(make_rule(intent_code="REFUND", state_code=state) for state in ("COLLECT", "ANY", "CONFIRM")),
        make_edge("COLLECT", "CONFIRM", intent_code="REFUND"),
        make_edge("CONFIRM", "DONE", intent_code="REFUND"),
        make_classifier("REFUND", "money back", state_code="IDLE"),
    ]

    assert titles(*placed_rows, state="COLLECT") == {"Rules": 2, "State graph": 1, "Phrases": 1}


def test_rows_of_every_intent_are_left_out_where_this_one_never_is() -> None:
    met = make_rule(state_code="COLLECT")
    mine = make_rule(intent_code="REFUND", state_code="COLLECT")
    snapshot = make_snapshot(REFUND, mine, met, make_rule(state_code="ELSEWHERE"))

    rules = next(section for section in list_sections(snapshot, "REFUND") if section.title == "Rules")

    assert [row for group in rules.groups for row in group.shown] == [mine, met]


def test_switched_off_rows_are_there_too() -> None:
    assert titles(make_rule(intent_code="REFUND", enabled=False)) == {"Rules": 1}


def test_the_states_are_those_that_its_rows_name_or_lead_to() -> None:
    snapshot = make_snapshot(
        REFUND,
        make_rule(intent_code="REFUND", action_value="CONFIRM"),
        make_response(intent_code="REFUND", state_code="DONE"),
        make_edge("DONE", "IDLE", intent_code="REFUND"),
        make_rule(intent_code="OTHER", state_code="ELSEWHERE"),
    )

    assert list_states(snapshot, "REFUND") == ["CONFIRM", "DONE", "IDLE"]


def test_a_state_without_an_answer_is_told() -> None:
    answered = make_response(intent_code="REFUND", state_code="DONE")

    assert list_unanswered_states(make_snapshot(REFUND, answered), "REFUND", ["CONFIRM", "DONE"]) == ["CONFIRM"]
    assert list_unanswered_states(make_snapshot(REFUND, make_response()), "REFUND", ["CONFIRM", "DONE"]) == []
    assert list_unanswered_states(make_snapshot(make_intent("REFUND", enabled=False)), "REFUND", ["CONFIRM"]) == []


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (make_rule(action_value="DONE"), ("Always, set state to DONE.", "")),
        (make_classifier("REFUND", "money back"), ("money back", "Contains")),
        (make_classifier("REFUND", "money back", description="money back"), ("money back", "Contains")),
        (make_schema("REFUND", {"order": {}, "why": {}}, required=["order"]), ("order*, why", "")),
        (make_schema("REFUND", {"a": {"x-order": 2}, "b": {"x-order": 1}}), ("b*, a*", "")),
        (make_response(None, derivation_hint="Be kind."), ("Be kind.", "written by a model")),
        (make_edge("A", "B"), ("A → B", "")),
        (make_action("PAY"), ("PAY: billing (refund)", "")),
        (
            rows.OutputSchema(schema_id=1, intent_code="REFUND", state_code="ANY", json_schema=["nonsense"]),
            ("", ""),
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_row_is_told_by_what_it_does(row: Row, expected: tuple[str, str]) -> None:
    assert describe_row(row) == expected
