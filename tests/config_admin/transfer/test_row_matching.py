"""Which row a row of a file is."""

from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from config_admin import models as m
from config_admin.manual.reference import index_entries
from config_admin.transfer.document import Document, ImportMode
from config_admin.transfer.import_plan import ImportPlan, plan_import
from config_admin.transfer.natural_keys import get_key, list_file_columns
from config_admin.transfer.row_matching import fresh_ids, match_rows
from config_admin.validation.stored_columns import control_plane
from tests.config_admin.builders import make
from tests.config_admin.transfer.conftest import document

pytestmark = pytest.mark.django_db
POLICY = {"rule_type": "CONTAINS", "pattern": "cvv", "response_text": "No."}


def changes(plan: ImportPlan) -> dict[str, list[tuple[Any, bool, bool]]]:
    """By table: key, was there, will be there."""
    return {
        table: [(row.pk, row.before is not None, row.after is not None) for row in rows]
        for table, rows in plan.differences.items()
    }


def codes(plan: ImportPlan) -> list[tuple[str, str, str | None]]:
    return [(error.where, error.finding.code, error.finding.field) for error in plan.errors]


@pytest.fixture
def policy() -> m.CePolicy:
    row: m.CePolicy = make(m.CePolicy, policy_id=41)
    return row


@pytest.mark.usefixtures("policy")
def test_a_replacing_file_takes_away_what_it_does_not_have_in_its_own_tables() -> None:
    make(m.CeIntent, intent_code="LOAN")
    given = document(ImportMode.REPLACE, ce_policy=[{"policy_id": 42, **POLICY}, {**POLICY, "pattern": "pin"}])
    assert changes(plan_import(given)) == {"ce_policy": [(41, True, False), (42, False, True), (43, False, True)]}


def test_an_updating_file_keeps_columns_that_it_leaves_out_and_rows_that_it_does_not_name(policy: m.CePolicy) -> None:
    make(m.CePolicy, policy_id=40)
    plan = plan_import(document(ce_policy=[{"policy_id": 41, "pattern": "pin"}, {**POLICY, "pattern": "iban"}]))
    assert changes(plan) == {"ce_policy": [(41, True, True), (42, False, True)]}
    after = plan.differences["ce_policy"][0].after
    assert after
    assert (after["pattern"], after["response_text"]) == ("pin", policy.response_text)


def test_a_row_that_stays_as_it_is_is_no_change(policy: m.CePolicy) -> None:
    assert changes(plan_import(document(ce_policy=[{"policy_id": 41, "pattern": policy.pattern}]))) == {}


@pytest.mark.usefixtures("policy")
def test_rows_of_elsewhere_keep_free_ids_and_find_themselves_again() -> None:
    m.CePolicy.objects.all().delete()
    make(m.CePolicy, policy_id=40, pattern="pin", response_text="No.")
    rows = [{**POLICY, "policy_id": 40}, {**POLICY, "policy_id": 50, "pattern": "iban"}]
    plan = plan_import(document(ImportMode.ADD, ce_policy=[*rows, {**POLICY, "policy_id": 7, "pattern": "pin"}]))
    # 41 is gone, and was another row: its history stays its own.
    assert changes(plan) == {"ce_policy": [(42, False, True), (50, False, True)]}
    assert plan.placed.renumbered == {("ce_policy", 40): 42, ("ce_policy", 7): 40}


def test_progress_texts_follow_their_rule_to_its_new_id() -> None:
    make(m.CeRule, rule_id=5)
    rule = {"rule_id": 5, "intent_code": "ANY", "state_code": "ANY", "rule_type": "EXACT", "match_pattern": "yes",
            "action": "SET_STATE", "action_value": "DONE"}  # fmt: skip
    text = {"intent_code": "ANY", "state_code": "ANY", "step_value": "RulesStep", "determinant": "RULE_MATCH",
            "rule_id": 5, "message": "Yes."}  # fmt: skip
    plan = plan_import(document(ImportMode.ADD, ce_rule=[rule], ce_verbose=[text]))
    [verbose] = plan.differences["ce_verbose"]
    assert verbose.after
    assert verbose.after["rule_id"] == 6


def test_names_find_rows_in_any_case_and_ids_stay() -> None:
    row = make(m.CeConfig, config_type="Session", config_key="TIMEOUT_MINUTES", config_value="5")
    given = document(
        ce_config=[{"config_type": "SESSION", "config_key": "timeout_minutes", "config_value": "6"}],
        ce_intent=[{"intent_code": " loan ", "description": "x"}],
    )
    assert changes(plan_import(given)) == {"ce_intent": [("LOAN", False, True)], "ce_config": [(row.pk, True, True)]}


def test_a_tool_and_its_own_row_come_together_and_go_together() -> None:
    tool = {"tool_code": "loan.rate", "tool_group": "DB", "intent_code": "ANY", "state_code": "ANY"}
    part = {"tool_code": "LOAN.rate", "sql_template": "SELECT 1 LIMIT 1", "param_schema": {"type": "object"}}
    plan = plan_import(document(ce_mcp_db_tool=[part], ce_mcp_tool=[tool]))
    [(pk, _, _)] = changes(plan)["ce_mcp_tool"]
    assert changes(plan)["ce_mcp_db_tool"] == [(pk, False, True)]

    stored = make(m.CeMcpDbTool)
    gone = plan_import(document(ImportMode.REPLACE, ce_mcp_tool=[]))
    assert changes(gone) == {"ce_mcp_tool": [(stored.pk, True, False)], "ce_mcp_db_tool": [(stored.pk, True, False)]}


@pytest.mark.parametrize(
    ("rows", "code", "field", "message"),
    [
        ([{**POLICY, "colour": 1}], "COLUMN_UNKNOWN", "colour", "no column colour"),
        ([{**POLICY, "priorty": 1}], "COLUMN_UNKNOWN", "priorty", "Did you mean priority"),
        ([{**POLICY, "priority": "1"}], "SHAPE_INVALID", "priority", "'1' is not valid. It must be a whole number."),
        ([{**POLICY, "priority": True}], "SHAPE_INVALID", "priority", "must be a whole number"),
        ([{**POLICY, "enabled": 1}], "SHAPE_INVALID", "enabled", "must be true or false"),
        ([{**POLICY, "pattern": 5}], "SHAPE_INVALID", "pattern", "must be a text in quotes."),
        ([{**POLICY, "pattern": "a\x00"}], "SHAPE_INVALID", "pattern", "cannot be stored"),
        ([{**POLICY, "priority": -1}], "PRIORITY_RANGE", "priority", "from 0 to 1000000"),
        ([{**POLICY, "policy_id": -1}], "OUT_OF_RANGE", "policy_id", "-1 is not valid"),
        ([{**POLICY, "policy_id": 2**63}], "OUT_OF_RANGE", "policy_id", "9223372036854775808 received"),
        ([{**POLICY, "enabled": None}], "OUT_OF_RANGE", "enabled", "This value is required"),
    ],
)
def test_what_does_not_fit_is_named(rows: list[dict[str, Any]], code: str, field: str, message: str) -> None:
    plan = plan_import(document(ce_policy=rows))
    assert codes(plan) == [("Policies, row 1", code, field)]
    assert message in plan.errors[0].finding.message


@pytest.mark.parametrize("value", ["a\x00", "\ud800"])
def test_a_document_in_a_column_holds_only_what_every_database_takes(value: str) -> None:
    for schema in ({"properties": {"a": {"title": [value]}}}, {value: 1}):
        plan = plan_import(document(ce_output_schema=[{"intent_code": "LOAN", "json_schema": schema}]))
        assert ("Forms, row 1", "SHAPE_INVALID", "json_schema") in codes(plan)


def test_one_row_twice_is_refused() -> None:
    given = document(ce_intent=[{"intent_code": "A", "description": "x"}, {"intent_code": "a", "description": "y"}])
    assert codes(plan_import(given)) == [("Intents, row 2", "DUPLICATE", "intent_code")]


def test_an_intent_without_a_code_and_a_row_without_a_tool_find_no_place() -> None:
    plan = plan_import(document(ce_intent=[{"description": "x"}], ce_mcp_http_tool=[{"tool_code": "none"}]))
    assert codes(plan) == [
        ("Intents, row 1", "FIELD_REQUIRED", "intent_code"),
        ("HTTP tools, row 1", "TOOL_UNKNOWN", "tool_code"),
    ]


@pytest.mark.usefixtures("policy")
def test_a_refused_row_does_not_make_the_stored_one_go_away() -> None:
    plan = plan_import(document(ImportMode.REPLACE, ce_policy=[{"policy_id": 41, "colour": 1}]), rest=True)
    assert changes(plan) == {}


def test_ids_of_the_file_are_not_given_to_others() -> None:
    given: Document = document(ImportMode.REPLACE, ce_policy=[POLICY, {"policy_id": 1, **POLICY}])
    existing: dict[str, dict[Any, Any]] = {"ce_policy": {}, "ce_mcp_tool": {}}
    assert set(match_rows(given, existing, fresh_ids(given, existing)).wanted["ce_policy"]) == {1, 2}


RULE = {"intent_code": "ANY", "state_code": "ANY", "rule_type": "EXACT", "match_pattern": "yes", "action": "SET_STATE"}


def test_a_row_without_an_id_is_the_equal_one_or_the_next_one_with_its_natural_key() -> None:
    for rule_id, priority in ((5, 30), (6, 10), (7, 20)):
        make(m.CeRule, rule_id=rule_id, **RULE, action_value=f"S{rule_id}", priority=priority)
    rows = [
        {**RULE, "action_value": "S5", "priority": 30},
        {**RULE, "action_value": "NEW", "priority": 10},
        {**RULE, "match_pattern": "no", "action_value": "S7"},
    ]
    plan = plan_import(document(ImportMode.REPLACE, ce_rule=rows))
    assert changes(plan) == {"ce_rule": [(6, True, True), (7, True, False), (8, False, True)]}
    after = plan.differences["ce_rule"][0].after
    assert after
    assert after["action_value"] == "NEW"


def test_a_row_with_an_id_is_no_match_of_one_without() -> None:
    make(m.CeRule, rule_id=5, **RULE, action_value="A")
    rows = [{**RULE, "action_value": "B"}, {**RULE, "rule_id": 5, "action_value": "A"}]
    assert changes(plan_import(document(ce_rule=rows))) == {"ce_rule": [(6, False, True)]}


def test_a_refused_row_without_an_id_does_not_make_the_stored_one_go_away() -> None:
    make(m.CeRule, rule_id=5, **RULE, action_value="A")
    plan = plan_import(document(ImportMode.REPLACE, ce_rule=[{**RULE, "colour": 1}]), rest=True)
    assert changes(plan) == {}


@pytest.mark.parametrize("table", control_plane())
def test_every_table_declares_the_columns_that_identify_a_row(table: str) -> None:
    assert set(get_key(table).columns) <= set(list_file_columns(table))


@pytest.mark.parametrize("table", control_plane())
def test_the_reference_names_the_natural_key_of_every_table(table: str) -> None:
    assert ("Natural key in files", ", ".join(get_key(table).columns)) in index_entries()[table].entry.facts


def test_the_keys_that_the_manual_names_are_those_of_the_tables() -> None:
    text = (Path(settings.BASE_DIR) / "docs/transfer.md").read_text()
    for table in ("ce_intent", "ce_response"):
        assert ", ".join(f"`{name}`" for name in get_key(table).columns) in text
