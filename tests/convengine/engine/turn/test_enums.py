import pytest

from convengine.engine.turn.enums import ToolGroup, resolve_group


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
    assert resolve_group(name) == group
