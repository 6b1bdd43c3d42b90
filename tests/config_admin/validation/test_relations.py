"""Neighbours of a row, found by index."""

from dataclasses import replace

from config_admin.validation import relations
from convengine.engine.turn import rows
from tests.config_admin.validation.shop import ANSWERED, CANCELLED, CONFIRMING, FALLBACK, RULE, SCHEMA, TOOL, shop


def test_rows_of_the_same_scope_come_in_the_order_of_trying() -> None:
    first, last = replace(CANCELLED, response_id=20, priority=1), replace(CANCELLED, response_id=21)
    in_order = relations.find_rows_of_scope(shop(last, first, replace(first, response_id=22, enabled=False)), CANCELLED)
    assert [row.pk for row in in_order] == [20, 4, 21]


def test_rows_that_can_meet_the_same_session_share_its_scope() -> None:
    def find_rows(intent: str, state: str) -> set[int]:
        return {row.pk for row in relations.find_rows_sharing_scope(shop(), rows.Response, intent, state)}

    assert find_rows("CANCEL_ORDER", "CONFIRM") == {CONFIRMING.pk}
    assert find_rows("FAQ", "WHATEVER") == {ANSWERED.pk}
    assert find_rows("ANY", "UNKNOWN") == {FALLBACK.pk, ANSWERED.pk}


def test_a_row_that_is_not_stored_yet_comes_last_among_equals() -> None:
    new = replace(RULE, rule_id=None)  # type: ignore[arg-type]
    assert sorted([new, replace(RULE, rule_id=900), RULE], key=relations.rank) == [
        RULE,
        replace(RULE, rule_id=900),
        new,
    ]


def test_text_in_a_json_column_is_read() -> None:
    assert relations.as_json('{"a": 1}') == {"a": 1}
    assert relations.as_json({"a": 1}) == {"a": 1}
    assert relations.as_json("{") is relations.UNREADABLE
    assert relations.get_properties('{"properties": {"a": {}}}') == {"a": {}}
    assert relations.get_properties([]) == relations.get_properties({"properties": 3}) == {}


def test_the_fields_of_an_intent_are_those_of_its_schemas() -> None:
    other = replace(SCHEMA, schema_id=9, intent_code="FAQ", json_schema='{"properties": {"topic": {}}}')
    assert relations.list_form_fields(shop(other), "faq") == {"topic"}
    assert relations.list_form_fields(shop(other), "ANY") == {"topic", "orderNumber"}
    assert relations.list_form_fields(shop(other), "UNKNOWN") == set()


def test_a_tool_is_found_by_its_code_in_any_case() -> None:
    assert relations.find_tool(shop(), " Order.STATUS") == TOOL
    assert relations.find_tool(shop(), None) is None
