from types import SimpleNamespace

import pytest

from convengine.engine.rules.row_names import LONGEST, name_row, quote_name
from convengine.engine.turn import rows
from tests.builders import make_rule

REFUND = {"intent_code": "REFUND", "state_code": "COLLECT"}


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (rows.Intent(intent_code="REFUND", display_name="Refunds"), "Refunds"),
        (
            rows.Classifier(classifier_id=1, intent_code="REFUND", rule_type="contains", pattern="refund"),
            "Contains: refund",
        ),
        (rows.Classifier(classifier_id=1, intent_code="REFUND", pattern="refund", description="asks"), "asks"),
        (make_rule(match_pattern="yes", description=None), "When the message is “yes”, set state to DONE."),
        (rows.StateEdge(edge_id=1, from_state="ANY", to_state="DONE"), "From Any to DONE"),
        (rows.OutputSchema(schema_id=1, **REFUND, json_schema={"properties": {"orderId": {}}}), "Fields orderId"),
        (
            rows.PromptTemplate(template_id=1, **REFUND, response_type="SCHEMA_JSON"),
            "Extract fields in state COLLECT of intent REFUND",
        ),
        (rows.Response(response_id=1, **REFUND, exact_text="Your\nmoney"), "Your money"),
        (rows.Response(response_id=1, **REFUND, exact_text="{% if ok %}Done{% else %}Sorry{% endif %}"), "Done Sorry"),
        (rows.Response(response_id=1, **REFUND, exact_text="{% include x %}"), "{% include x %}"),
        (rows.DirectTool(ce_tool_id=1, **REFUND, tool_group="DB"), "Database query"),
        (rows.Tool(tool_id=1, **REFUND, tool_group="DB", tool_code="a.b", description="long"), "a.b"),
        (
            rows.Planner(planner_id=1, **REFUND, system_prompt="", user_prompt=""),
            "Planner prompt in state COLLECT of intent REFUND",
        ),
        (rows.SqlGuardrail(guardrail_id=1, rule_type="BLOCK_KEYWORD", match_value="drop"), "Block a keyword: drop"),
        (
            rows.Config(config_id=1, config_type="pendingactionstep", config_key="TIMEOUT_MS.a.b", config_value="5"),
            "Timeout of a task (ms) for a.b = 5",
        ),
    ],
)
def test_a_row_is_called_by_its_description_or_by_what_it_says(row, expected):
    assert name_row(row.table, row) == expected


def test_a_name_is_one_short_line():
    row = SimpleNamespace(description="a\nb " * 100)
    assert len(name_row("ce_rule", row)) == LONGEST
    assert name_row("ce_rule", row).startswith("a b")


def test_a_row_without_content_has_no_name():
    empty = SimpleNamespace(description=None, pattern="", rule_type="")
    assert name_row("ce_intent_classifier", empty) == ""


def test_a_name_is_never_quoted_twice() -> None:
    assert quote_name("opening hours") == "“opening hours”"
    assert quote_name("“cancel” or “stop”") == "“cancel” or “stop”"
    assert quote_name("When the message is “yes”, go on.") == "“When the message is ‘yes’, go on.”"
