"""What uses a row: rows that name it in whichever way, and what leads to where it applies."""

import time
from typing import Any

import pytest

from config_admin.validation.uses import list_uses
from convengine.engine.turn import rows
from convengine.engine.turn.snapshot import Snapshot, Table

SCOPE = {"intent_code": "LOAN", "state_code": "COLLECT"}


def snapshot_of(*all_rows: rows.Row) -> Snapshot:
    tables = {
        row.table: Table(row.table, [entry for entry in all_rows if entry.table == row.table]) for row in all_rows
    }
    return Snapshot(1, tables)


def rule(pk: int, **values: Any) -> rows.Rule:
    plain = {"rule_type": "EXACT", "match_pattern": "yes", "action": "SET_STATE", "action_value": "DONE"}
    return rows.Rule(rule_id=pk, **(SCOPE | plain | values))


def describe_uses(row: rows.Row, *others: rows.Row) -> list[tuple[str, str, Any]]:
    return [(use.how, use.row.table, use.row.pk) for use in list_uses(snapshot_of(row, *others), row)]


def test_an_intent_is_used_by_what_recognises_it_belongs_to_it_and_switches_to_it() -> None:
    intent = rows.Intent(intent_code="LOAN")
    classifier = rows.Classifier(classifier_id=1, intent_code="LOAN")
    own, other = rule(1), rule(2, intent_code="ANY", action="SET_INTENT", action_value="LOAN")
    setting = rows.Config(
        config_id=3, config_type="ResetResolvedIntentStep", config_key="RESET_INTENT_CODES", config_value="LOAN"
    )

    assert describe_uses(intent, classifier, own, other, setting) == [
        ("Leads to it", "ce_intent_classifier", 1),
        ("Belongs to it", "ce_rule", 1),
        ("Changes to it", "ce_rule", 2),
        ("Resets with it", "ce_config", 3),
    ]


def test_a_tool_is_used_by_calls_texts_and_settings() -> None:
    tool = rows.Tool(tool_id=5, tool_code="loan.rate", tool_group="DB", **SCOPE)
    call = rows.DirectTool(ce_tool_id=1, tool_group="DB", tool_code="loan.rate", **SCOPE)
    behind = rows.DbTool(tool_id=5, sql_template="SELECT 1", param_schema={})
    asking = rule(7, action="SET_JSON", action_value='tool_request:{"tool_code": "loan.rate"}')
    other = rule(8, action="SET_JSON", action_value='tool_request:{"tool_code": "loan.rates"}')
    own = rows.Config(config_id=1, config_type="McpDbExecutor", config_key="TIMEOUT_MS.loan.rate", config_value="1")
    order = rows.Config(
        config_id=2, config_type="McpToolStep", config_key="ALLOWED_NEXT", config_value='{"*": ["loan.rate"]}'
    )

    assert describe_uses(tool, call, behind, asking, other, own, order) == [
        ("Calls it", "ce_tool", 1),
        ("Runs it", "ce_mcp_db_tool", 5),
        ("Refers to it", "ce_rule", 7),
        ("Has its own setting", "ce_config", 1),
        ("Allows moves from it", "ce_config", 2),
    ]
    assert describe_uses(behind, tool, call)[:2] == [("Is the tool", "ce_mcp_tool", 5), ("Calls it", "ce_tool", 1)]


def test_a_server_is_used_by_whoever_names_a_tool_of_it() -> None:
    server = rows.McpServer(server_id=1, name="files", transport="STDIO", command="x", **SCOPE)
    call = rows.DirectTool(ce_tool_id=1, tool_group="MCP", tool_code="mcp.files.read", **SCOPE)
    other = rows.DirectTool(ce_tool_id=2, tool_group="MCP", tool_code="mcp.files2.read", **SCOPE)

    assert ("Refers to a tool of it", "ce_tool", 1) in describe_uses(server, call, other)
    assert ("Refers to a tool of it", "ce_tool", 2) not in describe_uses(server, call, other)


def test_a_rule_is_used_by_texts_that_tell_of_it() -> None:
    verbose = rows.Verbose(verbose_id=1, step_value="RulesStep", determinant="RULE_MATCH", rule_id=4, **SCOPE)

    assert describe_uses(rule(4, state_code="ANY"), verbose) == [("Shows a text when it applies", "ce_verbose", 1)]


def test_a_schema_is_used_where_its_fields_are_and_not_by_words_of_the_same_name() -> None:
    schema = rows.OutputSchema(schema_id=1, json_schema={"properties": {"amount": {}}}, **SCOPE)
    path = rule(1, rule_type="JSON_PATH", match_pattern="$[?(@.amount > 5)]")
    answer = rows.Response(response_id=2, exact_text="{{ amount }} it is", **SCOPE)
    prose = rows.Response(response_id=3, exact_text="Which amount?", description="asks for 'amount'", **SCOPE)
    elsewhere = rows.Response(response_id=4, exact_text="{{ amount }}", intent_code="MOVE", state_code="DONE")

    assert describe_uses(schema, path, answer, prose, elsewhere) == [
        ("Uses its fields", "ce_rule", 1),
        ("Uses its fields", "ce_response", 2),
    ]


def test_fetched_data_and_actions_are_used_by_whoever_names_them() -> None:
    container = rows.ContainerConfig(
        id=1, page_id=1, section_id=1, container_id=1, input_param_name="faq", intent_code="LOAN", state_code="ANY"
    )
    action = rows.PendingAction(
        pending_action_id=1,
        action_key="PAY",
        bean_name="bank",
        method_names="pay",
        intent_code="LOAN",
        state_code="ANY",
    )
    naming = rule(3, action="SET_JSON", action_value='pending_action_key:"PAY"')
    template = rows.PromptTemplate(
        template_id=9, response_type="TEXT", user_prompt="{% for one in container_data.faq %}", **SCOPE
    )

    assert describe_uses(container, template) == [("Uses its data", "ce_prompt_template", 9)]
    assert describe_uses(action, naming) == [("Refers to it", "ce_rule", 3)]


def test_a_template_is_used_by_the_answers_that_may_be_written_with_it() -> None:
    template = rows.PromptTemplate(template_id=9, response_type="TEXT", **SCOPE)
    derived = rows.Response(response_id=1, response_type="DERIVED", **SCOPE)
    as_json = rows.Response(response_id=2, response_type="DERIVED", output_format="JSON", **SCOPE)

    assert describe_uses(template, derived, as_json) == [("May be written with it", "ce_response", 1)]


def test_what_leads_to_a_state_uses_the_rows_of_that_state() -> None:
    answer = rows.Response(response_id=1, exact_text="Done.", intent_code="LOAN", state_code="DONE")
    leading, elsewhere = rule(1), rule(2, intent_code="MOVE")
    classifier = rows.Classifier(classifier_id=3, intent_code="LOAN", state_code="DONE")
    edge = rows.StateEdge(edge_id=4, from_state="COLLECT", to_state="DONE")

    assert describe_uses(answer, leading, elsewhere, classifier, edge) == [
        ("Leads to its state", "ce_rule", 1),
        ("Leads to its state", "ce_intent_classifier", 3),
        ("Allows the move to its state", "ce_state_graph", 4),
    ]


@pytest.mark.parametrize("state", ["ANY", "UNKNOWN"])
def test_nothing_leads_to_every_state_or_to_none(state: str) -> None:
    answer = rows.Response(response_id=1, exact_text="?", intent_code="LOAN", state_code=state)

    assert describe_uses(answer, rule(1, action_value=state)) == []


def test_a_row_does_not_use_itself() -> None:
    assert describe_uses(rule(1, state_code="DONE")) == []


def test_five_thousand_rules_are_looked_through_in_a_moment() -> None:
    schema = rows.OutputSchema(schema_id=1, json_schema={"properties": {"amount": {}, "term": {}}}, **SCOPE)
    rules = [rule(number, match_pattern=f"$[?(@.amount == {number})]") for number in range(5000)]
    snapshot = snapshot_of(schema, *rules)
    assert len(list_uses(snapshot, schema)) == 5000

    start = time.thread_time()
    describe_uses(snapshot, schema)
    assert time.thread_time() - start < 0.3
