"""Results as servers really send them: what is there is taken, and the record says what was wrong with it."""

import json
import logging
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import structlog

from convengine.engine.turn.ports import ToolAnswer
from convengine.engine.turn.rows import McpServer
from convengine.server.mcp_client.policy import McpPolicy
from convengine.server.mcp_client.servers import McpServers, Pool
from convengine.server.outgoing.loop import outgoing
from tests.fakes.mcp_servers import stdio_row

SCRIPT = str(Path(__file__).parents[3] / "fakes/shaped_mcp_server.py")
POLICY = McpPolicy(frozenset({sys.executable}))
STATUS = {"type": "object", "properties": {"status": {"type": "string"}}, "required": ["status"]}
SENT = {"status": "SENT"}


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


IMAGE = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
VIDEO = {"type": "video", "data": "aGk=", "text": "A film."}
NO_STRUCTURE = "The tool declares a schema of its result, and sent text only."


class Shape(NamedTuple):
    """What a server sends, what of it is taken, and the warnings."""

    result: dict[str, Any]
    taken: dict[str, Any]
    warnings: tuple[str, ...] = ()
    schema: dict[str, Any] | None = None


GOOD = {
    "text": Shape({"content": [text("Sent.")]}, {"content": [text("Sent.")]}),
    "text and structure": Shape(
        {"content": [text("Sent.")], "structuredContent": SENT},
        {"content": [text("Sent.")], "structuredContent": SENT},
        schema=STATUS,
    ),
    "an image": Shape({"content": [IMAGE]}, {"content": [IMAGE]}),
    "no parts": Shape({"content": []}, {"content": []}),
}
ODD = {
    "text, though a schema stands": Shape(
        {"content": [text("Sent.")]}, {"content": [text("Sent.")]}, (NO_STRUCTURE,), STATUS
    ),
    "JSON as text, though a schema stands": Shape(
        {"content": [text(json.dumps(SENT))]},
        {"content": [text(json.dumps(SENT))], "structuredContent": SENT},
        (f"{NO_STRUCTURE} The JSON in it is taken.",),
        STATUS,
    ),
    "two texts, though a schema stands": Shape(
        {"content": [text("{}"), text("{}")]}, {"content": [text("{}"), text("{}")]}, (NO_STRUCTURE,), STATUS
    ),
    "structure without text": Shape(
        {"structuredContent": SENT},
        {"content": [], "structuredContent": SENT},
        ("The result has no content besides the structured one.",),
        STATUS,
    ),
    "structure and null": Shape(
        {"content": None, "structuredContent": SENT},
        {"content": [], "structuredContent": SENT},
        ("The result has no content besides the structured one.",),
    ),
    "structure that breaks the schema": Shape(
        {"content": [], "structuredContent": {"status": 7}},
        {"content": [], "structuredContent": {"status": 7}},
        ("The structured content at status is not what the tool's schema declares.",),
        STATUS,
    ),
    "structure without a required part": Shape(
        {"content": [], "structuredContent": {}},
        {"content": [], "structuredContent": {}},
        ("The structured content is not what the tool's schema declares.",),
        STATUS,
    ),
    "a schema that is invalid": Shape(
        {"content": [], "structuredContent": SENT},
        {"content": [], "structuredContent": SENT},
        ("The schema that the tool declares for its result cannot be used.",),
        {"type": "object", "$ref": "https://example.com/none"},
    ),
    "structure that is a list": Shape(
        {"content": [], "structuredContent": [SENT]},
        {"content": [], "structuredContent": {"result": [SENT]}},
        ("The structured content is not an object. It is taken as “result”.",),
    ),
    "an unknown part with a text": Shape(
        {"content": [text("Sent."), VIDEO]},
        {"content": [text("Sent."), text("A film.")]},
        ("Part 2 of the content of the type “video” is unknown or incomplete. It is taken as text.",),
    ),
    "an unknown part without a text": Shape(
        {"content": [{"type": "table", "rows": 2}]},
        {"content": [text('{"type":"table","rows":2}')]},
        ("Part 1 of the content of the type “table” is unknown or incomplete. It is taken as text.",),
    ),
    "an incomplete image": Shape(
        {"content": [{"type": "image", "data": "aGk="}]},
        {"content": [text('{"type":"image","data":"aGk="}')]},
        ("Part 1 of the content of the type “image” is unknown or incomplete. It is taken as text.",),
    ),
    "a part without a type": Shape(
        {"content": [{"text": "Sent."}]},
        {"content": [text("Sent.")]},
        ("Part 1 of the content has no type. It is taken as text.",),
    ),
    "a part that is a text": Shape(
        {"content": ["Sent."]},
        {"content": [text("Sent.")]},
        ("Part 1 of the content has no type. It is taken as text.",),
    ),
    "a content that is a text": Shape(
        {"content": "Sent."},
        {"content": [text("Sent.")]},
        ("The content is not a list.", "Part 1 of the content has no type. It is taken as text."),
    ),
    "a content that is one part": Shape(
        {"content": text("Sent.")}, {"content": [text("Sent.")]}, ("The content is not a list.",)
    ),
    "an older result": Shape(
        {"toolResult": SENT},
        {"content": [text('{"toolResult":{"status":"SENT"}}')]},
        ("The result has no content. What it has instead is taken as text.",),
    ),
    "nothing": Shape({}, {"content": []}, ("The result is empty.",)),
    "no word about an error": Shape(
        {"content": [text("Sent.")], "isError": "false"},
        {"content": [text("Sent.")]},
        ("“isError” is neither true nor false.",),
    ),
    "remarks that are a text": Shape(
        {"content": [text("Sent.")], "_meta": "slow"},
        {"content": [text("Sent.")]},
        ("“_meta” is not an object. It is left out.",),
    ),
    "remarks that are null": Shape({"content": [text("Sent.")], "_meta": None}, {"content": [text("Sent.")]}),
    "an annotation that is a text": Shape(
        {"content": [{**text("Sent."), "annotations": "draft"}]},
        {"content": [text("Sent.")]},
        ("Part 1 of the content of the type “text” is unknown or incomplete. It is taken as text.",),
    ),
    "structure that is a text": Shape(
        {"content": [text("Sent.")], "structuredContent": "SENT"},
        {"content": [text("Sent.")], "structuredContent": {"result": "SENT"}},
        ("The structured content is not an object. It is taken as “result”.",),
    ),
}
#: Failures of tools, with what is said of them.
FAILED = {
    "a text": ({"content": [text("No such order.")], "isError": True}, "No such order."),
    "structure": ({"structuredContent": {"reason": "gone"}, "isError": True}, '{"reason":"gone"}'),
    "an unknown part": ({"content": [VIDEO], "isError": True}, "A film."),
    "nothing": ({"isError": True}, "The tool failed without a message."),
}


@pytest.fixture(scope="module")
def row(tmp_path_factory: pytest.TempPathFactory) -> McpServer:
    shapes: dict[str, Any] = {
        name: {"result": shape.result, "schema": shape.schema} for name, shape in {**GOOD, **ODD}.items()
    }
    shapes |= {f"failed: {name}": {"result": result} for name, (result, _) in FAILED.items()}
    file = tmp_path_factory.mktemp("shapes") / "shapes.json"
    file.write_text(json.dumps(shapes), "utf-8")
    return stdio_row("shaped", args_json=[SCRIPT, str(file)])


@pytest.fixture(scope="module")
def servers(row: McpServer) -> Iterator[McpServers]:
    pool = Pool()
    made = McpServers(POLICY, pool)
    assert made.tools(row).error_type is None
    yield made
    outgoing.run(pool.close(), 10)


def list_warnings(answer: ToolAnswer) -> tuple[str, ...]:
    return tuple(answer.stage_payloads.get("MCP_RESULT_MENDED", {}).get("warnings", ()))


@pytest.mark.parametrize("name", [*GOOD, *ODD])
def test_what_a_result_has_is_taken(name: str, servers: McpServers, row: McpServer) -> None:
    shape = {**GOOD, **ODD}[name]

    answer = servers.call(row, name, {})

    assert (answer.error_type, answer.error_message) == (None, None)
    assert answer.result == {**shape.taken, "isError": False}
    assert list_warnings(answer) == shape.warnings


@pytest.mark.parametrize("name", FAILED)
def test_a_tool_that_failed_says_why(name: str, servers: McpServers, row: McpServer) -> None:
    answer = servers.call(row, f"failed: {name}", {})

    assert (answer.error_type, answer.result) == ("MCP_TOOL_FAILED", None)
    assert answer.error_message == f"MCP server shaped: {FAILED[name][1]}"


def test_a_line_that_is_no_message_is_one_line_for_who_looks_for_it(
    row: McpServer, caplog: pytest.LogCaptureFixture
) -> None:
    pool = Pool()
    with structlog.testing.capture_logs() as lines, caplog.at_level(logging.DEBUG):
        assert McpServers(POLICY, pool).tools(row).error_type is None
        outgoing.run(pool.close(), 10)

    ignored = [(line["log_level"], line["line"]) for line in lines if line["event"] == "MCP_LINE_IGNORED"]
    assert ignored[0] == ("debug", "Shaped server 1.0, listening …")
    assert len(ignored) == 2
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []
