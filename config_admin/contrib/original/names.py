"""Names that later versions of the original gave to tables, settings and facts, and the names that they have here."""

import re
from collections.abc import Mapping
from typing import Any

from config_admin.transfer.natural_keys import rename_table
from convengine.engine.turn import rows
from convengine.engine.turn.enums import RulePhase, RuleType
from convengine.engine.turn.rows import ROW_TYPE_OF

#: Columns of the original with another name here.
RENAMED: Mapping[tuple[str, str], str] = {
    (rows.PromptTemplate.table, "output_format"): "response_type",
    (rows.McpServer.table, "args"): "args_json",
    (rows.McpServer.table, "env"): "env_json",
    (rows.McpServer.table, "headers"): "headers_json",
    (rows.McpServer.table, "id"): "server_id",
}
#: Words of a column, in lower case -> the word here.
_WORDS: Mapping[tuple[str, str], Mapping[str, str]] = {
    (rows.Config.table, "config_type"): {"agentplanner": "McpPlanner", "agenttoolstep": "McpToolStep"},
    (rows.Verbose.table, "step_value"): {"agenttoolstep": "McpToolStep"},
    (rows.Verbose.table, "determinant"): {
        f"agent_{event}": f"MCP_{event.upper()}"
        for event in (
            "tool_call", "tool_result", "tool_error", "final_answer", "duplicate_tool_call_suppressed",
            "tool_root_cause",
        )
    },
}  # fmt: skip
_AGENT_KEY = re.compile(r"^AGENT_TOOL_", re.IGNORECASE)
#: Facts of the planner in texts: `context.agent.finalAnswer` is `context.mcp.finalAnswer` here.
_AGENT_FACT = re.compile(r"\b(?P<context>context(?:Json)?)\.agent\b")
_AGENT_NAME = re.compile(r"\bagent_(?P<name>tools|observations)\b")
#: These names in a path that reads only the context.
_AGENT_PATH = re.compile(r"(?P<root>[$@])\.agent\b")
#: A name that the caller of a tool chooses, as some seeds write it.
_BRACED_NAME = re.compile(r"\{\{\s*(\w+)\s*\}\}")
#: The phase after the answer, which this engine does not have.
_POST_RESPONSE = ("POST_RESPONSE_RESOLUTION", "POST_RESPONSE")


def find_table(name: str) -> str:
    """The table of this name, also under its newer name of the original; unchanged if there is none."""
    renamed = rename_table(name)
    return renamed if renamed in ROW_TYPE_OF else name


def rename_value(table: str, column: str, text: str) -> str:
    """A text with the names of this engine."""
    if is_post_response(table, column, text):
        return RulePhase.PRE_RESPONSE_RESOLUTION.value
    if word := _WORDS.get((table, column), {}).get(text.strip().lower()):
        return word
    if (table, column) == (rows.Config.table, "config_key"):
        return _AGENT_KEY.sub("MCP_TOOL_", text)
    return _AGENT_NAME.sub(r"mcp_\g<name>", _AGENT_FACT.sub(r"\g<context>.mcp", text))


def rename_context_path(values: Mapping[str, Any]) -> str | None:
    """The path of a rule on the context alone, with the names of this engine. Returns None if nothing changes."""
    path = values.get("match_pattern")
    if values.get("rule_type") != RuleType.CONTEXT_JSON_PATH or not isinstance(path, str):
        return None
    renamed = _AGENT_PATH.sub(r"\g<root>.mcp", path)
    return renamed if renamed != path else None


def rename_identifiers(sql: str) -> str:
    """The SQL of a tool with `${name}` for `{{name}}`."""
    return _BRACED_NAME.sub(r"${\1}", sql)


def is_post_response(table: str, column: str, value: Any) -> bool:
    """True for the phase of a rule that the original evaluates after the answer."""
    return (table, column) == (rows.Rule.table, "phase") and str(value).strip().upper() in _POST_RESPONSE
