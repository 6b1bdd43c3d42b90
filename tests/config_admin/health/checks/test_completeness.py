from dataclasses import replace

from config_admin.health.checks import completeness
from config_admin.validation.draft import Severity
from tests.builders import make_action, make_direct_tool, make_intent, make_response, make_rule, make_tool
from tests.config_admin.health.run_check import list_codes, run_check
from tests.config_admin.validation.shop import CONFIRMATION, PLANNER

OLD = make_intent("OLD", enabled=False)


def test_a_configuration_without_a_fallback_answer_has_an_error() -> None:
    (diagnosis,) = run_check(completeness.check_fallback, make_response(intent_code="UNKNOWN", state_code="DONE"))

    assert (diagnosis.code, diagnosis.severity, diagnosis.table, diagnosis.row) == (
        "FALLBACK_MISSING",
        Severity.ERROR,
        "ce_response",
        None,
    )
    assert not run_check(completeness.check_fallback, make_response(state_code="UNKNOWN"))


def test_a_row_that_no_turn_can_use_is_an_error_with_its_remedy() -> None:
    rule = make_rule(rule_type="REGEX", match_pattern="(a")

    (diagnosis,) = run_check(completeness.find_unusable_rows, rule)

    assert (diagnosis.code, diagnosis.row, diagnosis.field, diagnosis.is_error) == (
        "ROW_UNUSABLE",
        rule.rule_id,
        "match_pattern",
        True,
    )


def test_rows_of_an_intent_that_is_off_or_gone_are_told_together() -> None:
    rules = [make_rule(intent_code="OLD"), make_rule(intent_code="OLD"), make_rule(intent_code="NONE")]

    diagnoses = run_check(completeness.find_rows_of_inactive_intents, OLD, *rules)

    assert [(diagnosis.code, diagnosis.table, len(diagnosis.rows)) for diagnosis in diagnoses] == [
        ("ROW_INACTIVE_INTENT", "ce_rule", 1),
        ("ROW_INACTIVE_INTENT", "ce_intent", 3),
    ]
    assert "which does not exist" in diagnoses[0].message


def test_a_yes_that_nothing_reacts_to_is_told() -> None:
    asks = replace(CONFIRMATION, intent_code="LOAN", state_code="CONFIRM")
    loan, scope = make_intent("LOAN"), {"intent_code": "LOAN", "state_code": "CONFIRM"}
    on_yes = (
        make_action("PAY", **scope),
        make_rule(**scope, match_target="DIALOGUE_ACT", match_pattern="AFFIRM"),
        make_rule(**scope, rule_type="JSON_PATH", match_pattern="$[?(@.inputParams.dialogue_act == 'AFFIRM')]"),
        make_rule(**scope, rule_type="REGEX", match_pattern="^(yes|ok)"),
    )

    assert list_codes(completeness.find_unanswered_confirmations, loan, asks) == [
        ("CONFIRM_WITHOUT_ACTION_OR_RULE", asks.template_id)
    ]
    assert list_codes(
        completeness.find_unanswered_confirmations,
        loan,
        asks,
        make_rule(**scope, rule_type="EXACT", match_pattern="no"),
    )
    for row in on_yes:
        assert not list_codes(completeness.find_unanswered_confirmations, loan, asks, row)


def test_a_tool_that_nobody_names_is_told() -> None:
    tool, shop = make_tool("order.status"), make_intent("ORDER_STATUS")

    assert list_codes(completeness.find_unused_tools, tool) == [("TOOL_NEVER_USED", tool.tool_id)]
    assert not list_codes(completeness.find_unused_tools, tool, make_direct_tool("Order.Status"))
    assert not list_codes(completeness.find_unused_tools, shop, tool, PLANNER)
    asking = make_rule(action="SET_INPUT_PARAM", action_value='{"tool_request": {"tool_code": "order.status"}}')
    assert not list_codes(completeness.find_unused_tools, tool, asking)
