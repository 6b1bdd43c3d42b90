import pytest
from jsonschema import Draft202012Validator

from convengine.tools.group_schemas import GROUP_SCHEMAS, shown_schema
from tests.builders import make_snapshot, make_tool


@pytest.mark.parametrize("group", GROUP_SCHEMAS)
def test_each_group_is_described_by_a_schema(group: str) -> None:
    Draft202012Validator.check_schema(GROUP_SCHEMAS[group])


def test_what_a_tool_says_itself_is_shown_before_what_its_group_takes() -> None:
    own, plain = make_tool("a", tool_group="FILE", input_schema={"type": "object"}), make_tool("b", tool_group="FILE")
    task = make_tool("c", tool_group="WORKFLOW_ACTION")
    snapshot = make_snapshot(own, plain, task)

    assert [shown_schema(snapshot, tool) for tool in (own, plain, task)] == [
        {"type": "object"},
        GROUP_SCHEMAS["FILES"],
        None,
    ]
