"""A topic as a bundle, and the tools that it needs and does not contain."""

from config_admin.flows.topics.topic import Topic
from config_admin.transfer.bundle import write_bundle
from config_admin.transfer.document import Mode
from config_admin.transfer.natural_keys import TOOL, TOOL_CODE
from config_admin.validation.relations import find_tool
from convengine.engine.turn import rows
from convengine.engine.turn.snapshot import Snapshot


def export_topic(topic: Topic) -> bytes:
    """The rows as a YAML bundle that adds them where it is imported."""
    contents = {TOOL: {}, **topic.own}
    tables = [table for table, members in topic.own.items() if members]
    return write_bundle(contents, tables, as_yaml=True, mode=Mode.ADD).encode()


def list_needed_tools(snapshot: Snapshot, topic: Topic) -> list[rows.Tool]:
    """The tools that rows of the topic call by code, and that belong to other intents."""
    own = topic.own.get(TOOL, {})
    called = {str(row[TOOL_CODE]) for row in topic.own.get(rows.DirectTool.table, {}).values() if row[TOOL_CODE]}
    tools = (find_tool(snapshot, tool_code) for tool_code in sorted(called))
    return [tool for tool in tools if tool is not None and tool.pk not in own]
