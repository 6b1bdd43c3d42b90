from config_admin.health.checks.states import (
    find_forms_without_exit,
    find_unanswered_states,
    find_unreachable_states,
    find_unused_responses,
)
from tests.builders import make_action, make_classifier, make_edge, make_intent, make_response, make_rule, make_schema
from tests.config_admin.health.run_check import list_codes, run_check

LOAN, CARD = make_intent("LOAN"), make_intent("CARD")


def test_rows_of_a_state_that_nothing_leads_to_are_told_together() -> None:
    response = make_response(intent_code="LOAN", state_code="LOST")
    schema = make_schema("LOAN", {"a": {}}, state_code="LOST")

    (diagnosis,) = run_check(find_unreachable_states, LOAN, response, schema)

    assert (
        diagnosis.message
        == "There are 2 rows for intent LOAN, state LOST, and no rule, phrase or state graph edge leads there."
    )
    assert {key.table for key in diagnosis.rows} == {"ce_response", "ce_output_schema"}


def test_whatever_leads_to_a_state_step_by_step_makes_it_reached() -> None:
    response = make_response(intent_code="LOAN", state_code="FAR")
    ways = (
        [make_classifier("LOAN", "x", state_code="FAR")],
        [make_edge("IDLE", "FAR", intent_code="LOAN")],
        [make_rule(state_code="IDLE", action_value="NEAR"), make_rule(state_code="NEAR", action_value="FAR")],
        [make_rule(intent_code="CARD", action_value="FAR"), make_rule(action="SET_INTENT", action_value="LOAN")],
        [make_rule(intent_code="CARD", action_value="FAR"), make_classifier("LOAN", "x", state_code="ANY")],
    )

    for way in ways:
        assert not list_codes(find_unreachable_states, LOAN, CARD, response, *way)
    cut = [make_rule(state_code="NOWHERE", action_value="FAR")]
    messages = [finding.message for finding in run_check(find_unreachable_states, LOAN, response, *cut)]
    assert any("intent LOAN, state FAR," in message for message in messages)


def test_a_state_that_is_come_to_without_an_answer_is_told_with_the_rule_that_leads_there() -> None:
    rule = make_rule(intent_code="LOAN", action_value="DONE")

    assert list_codes(find_unanswered_states, LOAN, rule) == [("STATE_WITHOUT_RESPONSE", rule.rule_id)]
    assert not list_codes(find_unanswered_states, LOAN, rule, make_response(intent_code="LOAN"))
    assert not list_codes(find_unanswered_states, LOAN, rule, make_response(state_code="DONE"))


def test_a_state_that_the_rules_only_pass_through_needs_no_answer() -> None:
    same = {"intent_code": "LOAN", "state_code": "OFFER", "rule_type": "REGEX", "match_pattern": "yes"}
    offer = make_rule(intent_code="LOAN", state_code="IDLE", action_value="OFFER")
    turns = make_rule(**same, action="SET_INTENT", action_value="CARD", priority=1)
    moves = make_rule(**same, action="SET_STATE", action_value="COLLECT", priority=2)
    answers = [make_response(intent_code="LOAN"), make_response(intent_code="CARD", state_code="COLLECT")]

    assert not list_codes(find_unanswered_states, LOAN, CARD, offer, turns, moves, *answers)
    (diagnosis,) = run_check(find_unanswered_states, LOAN, CARD, offer, turns, *answers)
    assert (diagnosis.row, diagnosis.witness and diagnosis.witness.text) == (turns.rule_id, "yes")
    assert diagnosis.message.startswith("This leads to intent CARD, state OFFER")


def test_a_classifier_that_leads_to_a_state_without_an_answer_is_told() -> None:
    row = make_classifier("LOAN", "borrow", state_code="START")

    assert list_codes(find_unanswered_states, LOAN, row) == [("STATE_WITHOUT_RESPONSE", row.classifier_id)]


def test_an_answer_that_closer_ones_cover_wherever_it_could_be_given_is_told() -> None:
    rule = make_rule(intent_code="LOAN", action_value="DONE")
    wide = make_response("wide", state_code="DONE")
    close = make_response("close", intent_code="LOAN", state_code="DONE")

    (diagnosis,) = run_check(find_unused_responses, LOAN, rule, wide, close)

    assert (diagnosis.code, diagnosis.row, [key.pk for key in diagnosis.rows]) == (
        "RESPONSE_NEVER_USED",
        wide.response_id,
        [wide.response_id, close.response_id],
    )
    other = make_rule(intent_code="CARD", action_value="DONE")
    assert not list_codes(find_unused_responses, LOAN, CARD, rule, other, wide, close)


def test_an_answer_behind_one_of_its_own_scope_is_told() -> None:
    first, second = make_response("a", priority=1), make_response("b")

    assert list_codes(find_unused_responses, LOAN, first, second) == [("RESPONSE_NEVER_USED", second.response_id)]


def test_a_form_that_nothing_leads_out_of_is_told() -> None:
    loan, scope = make_intent("LOAN"), {"intent_code": "LOAN", "state_code": "COLLECT"}
    form = make_schema("LOAN", {"amount": {"type": "number"}}, state_code="COLLECT", required=["amount"])
    asks = make_response(**scope, exact_text="{{ question }}")
    ways_out = (
        make_action("PAY", **scope),
        make_rule(**scope, action_value="CONFIRM"),
        make_rule(intent_code="ANY", action="SET_INTENT", action_value="BYE"),
        make_response(**scope, exact_text="{% if schema_complete %}Thanks.{% endif %}"),
    )

    assert list_codes(find_forms_without_exit, loan, form, asks) == [("FORM_WITHOUT_EXIT", form.schema_id)]
    assert list_codes(find_forms_without_exit, loan, form, make_rule(**scope, action_value="COLLECT"))
    for row in ways_out:
        assert not list_codes(find_forms_without_exit, loan, form, asks, row)
