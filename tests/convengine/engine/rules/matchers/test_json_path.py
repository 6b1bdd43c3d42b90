from convengine.engine.rules.matchers import json_path
from convengine.engine.rules.verdict import ROW_INVALID
from tests.builders import make_rule


def test_P2_7_6_V5_a_filter_tests_the_facts_themselves() -> None:
    rule = make_rule(rule_type="JSON_PATH", match_pattern="$[?(@.schemaComplete == true)]")

    assert json_path.match_json_path(rule, {"schemaComplete": True}).matched
    assert not json_path.match_json_path(rule, {"schemaComplete": False}).matched


def test_P2_7_6_V6_a_path_that_does_not_parse_never_holds() -> None:
    rule = make_rule(rule_type="JSON_PATH", match_pattern="$.schemaComplete == true")

    assert json_path.match_json_path(rule, {"schemaComplete": True}).reason == ROW_INVALID


def test_a_row_may_say_that_an_empty_leaf_does_not_count() -> None:
    rule = make_rule(rule_type="JSON_PATH", match_pattern="$.note", null_leaf_matches=False)

    assert not json_path.match_json_path(rule, {"note": " "}).matched


def test_the_values_compared_are_kept() -> None:
    rule = make_rule(rule_type="JSON_PATH", match_pattern="$[?(@.n > 5)]")

    assert json_path.match_json_path(rule, {"n": 3}).operands == (
        {"path": "@.n", "value": 3, "op": ">", "literal": 5, "result": False},
    )
