from typing import Any

import pytest

from convengine.domain.enums import ToolGroup
from convengine.tools.request import InvalidToolRequest, ToolRequest, group_of, read_request


@pytest.mark.parametrize("value", [None, "", "  "])
def test_nothing_is_no_request(value: Any) -> None:
    assert read_request(value) is None


def test_P2_3_4_V6_a_json_text_is_read_like_an_object() -> None:
    assert read_request('{"tool_code":"a"}') == read_request({"tool_code": "a"}) == ToolRequest("a")


def test_blank_names_are_no_names_and_arguments_must_be_an_object() -> None:
    assert read_request({"tool_code": " a ", "tool_group": " ", "args": [1]}) == ToolRequest("a", None, {})


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("{", "no JSON"),
        ("[1]", "must be an object"),
        (7, "must be an object"),
        ({}, "neither a tool_code nor a tool_group"),
        ({"args": {"id": 1}}, "neither"),
        ({"tool_code": 5}, "tool_code of tool_request must be a text"),
    ],
)
def test_what_names_no_tool_is_refused_with_the_reason(value: Any, message: str) -> None:
    with pytest.raises(InvalidToolRequest, match=message):
        read_request(value)


@pytest.mark.parametrize(
    ("name", "group"),
    [
        (None, "DB"), ("", "DB"), ("sql", "DB"), ("mcp_db", "DB"), ("database", "DB"), ("api", "HTTP_API"),
        (" http ", "HTTP_API"), ("action", "WORKFLOW_ACTION"), ("workflow", "WORKFLOW_ACTION"),
        ("rag", "DOCUMENT_RETRIEVAL"), ("doc", "DOCUMENT_RETRIEVAL"), ("calc", "CALCULATOR_TRANSFORM"),
        ("transform", "CALCULATOR_TRANSFORM"), ("notify", "NOTIFICATION"), ("file", "FILES"), ("own", "OWN"),
        *((str(group).lower(), str(group)) for group in ToolGroup),
    ],
)  # fmt: skip
def test_a_group_has_one_name_however_it_is_written(name: str | None, group: str) -> None:
    assert group_of(name) == group
