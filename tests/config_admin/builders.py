"""One valid row of every control-plane table, and an edit of it."""

from typing import Any

import pytest

from config_admin import models as m
from config_admin.releases.diff import differences
from config_admin.releases.queries import release_of

SCOPE = {"intent_code": "LOAN", "state_code": "COLLECT"}
SCHEMA = {"type": "object", "properties": {"amount": {"type": "number"}}}

#: For each model the values of a new row, and one edit.
EXAMPLES: dict[type[m.ControlPlaneRow], tuple[dict[str, Any], dict[str, Any]]] = {
    m.CeIntent: ({"intent_code": "LOAN", "description": "Wants a loan."}, {"priority": 7}),
    m.CeIntentClassifier: (
        {"intent_code": "LOAN", "rule_type": "CONTAINS", "pattern": "loan"},
        {"pattern": "borrow"},
    ),
    m.CeRule: (
        SCOPE | {"rule_type": "EXACT", "match_pattern": "ANY", "action": "SET_STATE", "action_value": "DONE"},
        {"match_pattern": "yes"},
    ),
    m.CeStateGraph: ({"intent_code": "LOAN", "from_state": "A", "to_state": "B"}, {"to_state": "C"}),
    m.CePolicy: ({"rule_type": "CONTAINS", "pattern": "cvv", "response_text": "No cards."}, {"enabled": False}),
    m.CeOutputSchema: (SCOPE | {"json_schema": SCHEMA}, {"json_schema": SCHEMA | {"required": ["amount"]}}),
    m.CePromptTemplate: (
        SCOPE | {"response_type": "TEXT", "system_prompt": "Be brief.", "user_prompt": "{{user_input}}"},
        {"temperature": "0.70"},
    ),
    m.CeResponse: (SCOPE | {"response_type": "EXACT", "exact_text": "How much?"}, {"exact_text": "How much, please?"}),
    m.CeAnswerDocument: (
        {"title": "House rules", "content": "# Guests\n\nGuests leave before ten."},
        {"content": "# Guests\n\nGuests leave before eleven."},
    ),
    m.CeContainerConfig: (
        SCOPE | {"page_id": 1, "section_id": 2, "container_id": 3, "input_param_name": "faq"},
        {"container_id": 4},
    ),
    m.CePendingAction: (
        SCOPE | {"action_key": "PAY", "bean_name": "bank", "method_names": "pay"},
        {"description": "pay the loan out"},
    ),
    m.CeTool: (SCOPE | {"tool_group": "DB", "tool_code": "loan.rate"}, {"args_template": {"id": "{{context.id}}"}}),
    m.CeMcpTool: (SCOPE | {"tool_code": "loan.rate", "tool_group": "DB"}, {"read_only": False}),
    m.CeMcpDbTool: ({"sql_template": "SELECT 1", "param_schema": {"type": "object"}}, {"max_rows": 5}),
    m.CeMcpHttpTool: ({"connection_name": "bank", "url_template": "/rates"}, {"headers_json": {"X-A": "b"}}),
    m.CeMcpPlanner: (SCOPE | {"system_prompt": "Plan.", "user_prompt": "{{mcp_tools}}"}, {"user_prompt": "Go."}),
    m.CeMcpSqlGuardrail: ({"rule_type": "BLOCK_FUNCTION", "match_value": "pg_sleep"}, {"match_value": "version"}),
    m.CeMcpServer: ({"name": "files", "transport": "STDIO", "command": "serve"}, {"timeout_ms": 50}),
    m.CeConfig: ({"config_type": "Session", "config_key": "X", "config_value": "1"}, {"config_value": "2"}),
    m.CeVerbose: (
        SCOPE | {"step_value": "RulesStep", "determinant": "STEP_ENTER", "message": "One moment."},
        {"message": "Just a moment."},
    ),
}
MODELS = list(EXAMPLES)
#: Tables that stand for all where a base class does the work: keys by number, by a code, and of another table.
TYPICAL = (m.CeRule, m.CeIntent, m.CeMcpDbTool)
#: A test for each table; `make test` takes the typical ones, `make test-nightly` the others.
EACH_MODEL = pytest.mark.parametrize(
    "model",
    [model if model in TYPICAL else pytest.param(model, marks=pytest.mark.nightly) for model in MODELS],
    ids=lambda model: model._meta.db_table,
)


def new(model: type[m.ControlPlaneRow], **values: Any) -> Any:
    """An unsaved row; a tool's row of its own kind comes with a saved tool."""
    if model in (m.CeMcpDbTool, m.CeMcpHttpTool) and not {"tool", "tool_id"} & values.keys():
        values["tool"] = make(m.CeMcpTool)
    return model(**EXAMPLES[model][0] | values)


def make(model: type[m.ControlPlaneRow], **values: Any) -> Any:
    """A saved row."""
    row = new(model, **values)
    row.save()
    return row


def edit(model: type[m.ControlPlaneRow]) -> dict[str, Any]:
    """Values that make a row of the model another."""
    return EXAMPLES[model][1]


def rules(count: int) -> list[m.CeRule]:
    """Unsaved rules with texts that differ, as real ones do."""
    return [
        new(
            m.CeRule,
            intent_code=f"I{number % 50}",
            match_pattern=f"pattern {number * 7919 % 100_003} of {number}",
            description=f"what rule {number} is for, in words number {number * 104_729 % 1_000_003}",
        )
        for number in range(count)
    ]


def changed_rows(config_version: int) -> list[tuple[str, Any]]:
    """Table and key of each row that a release changed."""
    changes = differences(release_of(config_version).parent_id or 0, config_version)
    return [(table, row.pk) for table, rows in changes.items() for row in rows]


def version() -> int:
    """The version of the configuration in force."""
    return m.CeConfigHead.objects.get(pk=1).config_version
