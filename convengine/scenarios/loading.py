"""From files to scenarios. Every key is known or an error that names its place (scenario format 2, 5, 6)."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

from convengine.codec import dumps
from convengine.domain.enums import ConversationStatus
from convengine.llm.scripted import Line
from convengine.scenarios import expectations, tables
from convengine.scenarios.purposes import PURPOSES
from convengine.scenarios.reading import Fields, Node, read
from convengine.scenarios.scenario import (
    MAIN,
    ContainerStub,
    Edge,
    Edit,
    Row,
    Scenario,
    Start,
    TaskStub,
    ThreadName,
    Turn,
)
from convengine.scenarios.settings_map import world_settings
from convengine.scenarios.wording import known
from convengine.tools.scripted import Stub

Json = Any
T = TypeVar("T")
_WORLD = ("settings", "tables", "state_graph", "conversation", "model", "llm", "tasks", "tools", "containers")
_PART = re.compile(r"(\d+)(ms|s|m|h|d)\b")
_UNITS = {"ms": "milliseconds", "s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
_EDITS = ("insert", "update", "delete")


def files(paths: Iterable[Path]) -> list[Path]:
    """The scenario files of all paths, each once: a file itself, or every `*.yaml` in a folder and below."""
    found = [file for path in paths for file in (sorted(path.rglob("*.yaml")) if path.is_dir() else [path])]
    return list(dict.fromkeys(found))


def load(file: Path) -> Scenario:
    """The scenario of a file. Raises ScenarioFileError naming the place and what is wrong there."""
    root = read(file)
    given = root.fields(("id", "title", "turns"), ("covers", "why", "requires", *_WORLD))
    name = given["id"].text()
    if name != file.stem:
        raise given["id"].error(f"`{name}` must be the name of the file, `{file.stem}`.")
    settings = world_settings(given.get("settings", {}))
    turns = tuple(_turn(node) for node in given["turns"].items())
    if not turns:
        raise given["turns"].error("must have at least one turn.")
    return Scenario(
        id=name,
        title=given["title"].text(),
        turns=turns,
        covers=given.get("covers", []).texts(),
        why=given.get("why", "").text(),
        requires=given.get("requires", []).texts(),
        settings=settings,
        tables=_tables(given.get("tables", {})),
        edges=(*(Edge(start, end) for start, end in settings.transitions), *_each(given, "state_graph", _edge)),
        start=_start(given["conversation"]) if "conversation" in given else None,
        model=given.get("model", True).flag(),
        llm=_each(given, "llm", _line),
        tasks=_each(given, "tasks", _task),
        tools=_each(given, "tools", _tool),
        containers=_each(given, "containers", _container),
    )


def _each(given: Fields, key: str, make: Callable[[Node], T]) -> tuple[T, ...]:
    return tuple(make(node) for node in given.get(key, []).items())


def _tables(node: Node) -> Mapping[str, Sequence[Row]]:
    found: dict[str, Sequence[Row]] = {}
    for name, rows in node.entries().items():
        model = tables.read_table(rows, name)
        found[name] = tuple(tables.read_row(row, model) for row in rows.items())
    return found


def _edge(node: Node) -> Edge:
    given = node.fields(("from", "to"), ("intent",))
    return Edge(given["from"].text(), given["to"].text(), given["intent"].text() if "intent" in given else None)


def _start(node: Node) -> Start:
    given = node.fields((), ("intent_code", "state_code", "status", "context", "input_params", "history"))
    row: dict[str, Json] = {key: given[key].text() for key in ("intent_code", "state_code", "status") if key in given}
    if row.get("status", "RUNNING") not in ConversationStatus.__members__:
        raise given["status"].error(known(row["status"], ConversationStatus.__members__, "status"))
    row["context_json"] = given.get("context", {}).document()
    row["input_params_json"] = given.get("input_params", {}).document()
    return Start(row, tuple(_exchange(item) for item in given.get("history", []).items()))


def _exchange(node: Node) -> tuple[str, str]:
    given = node.fields(("user", "assistant"))
    return given["user"].text(), given["assistant"].text()


def _line(node: Node) -> Line:
    given = node.fields(("when",), ("reply", "error", "times"))
    given.exactly_one("reply", "error", node)
    when = given["when"].fields(("purpose",), ("contains", "prompt_contains"))
    purpose = when["purpose"].text()
    if purpose not in PURPOSES:
        raise when["purpose"].error(known(purpose, PURPOSES, "purpose"))
    return Line(
        PURPOSES[purpose],
        _reply(given["reply"]) if "reply" in given else "",
        given["error"].text() if "error" in given else None,
        when.get("contains", []).one_or_more_texts(),
        when.get("prompt_contains", []).one_or_more_texts(),
        _times(given),
    )


def _reply(node: Node) -> str:
    if isinstance(node.value, str):
        return node.value
    if isinstance(node.value, (dict, list)):
        return dumps(node.value)
    raise node.error("must be a text, an object or a list.")


def _task(node: Node) -> TaskStub:
    given = node.fields(("bean", "method"), ("returns", "raises", "sets_context", "times"))
    given.exactly_one("returns", "raises", node)
    return TaskStub(
        given["bean"].text(),
        given["method"].text(),
        given.get("returns").value,
        given["raises"].text() if "raises" in given else None,
        given.get("sets_context", {}).document(),
        _times(given),
    )


def _tool(node: Node) -> Stub:
    given = node.fields((), ("tool_code", "tool_group", "when_args", "result", "error", "times"))
    given.exactly_one("result", "error", node)
    if "tool_code" not in given and "tool_group" not in given:
        raise node.error("needs a `tool_code` or a `tool_group`.")
    return Stub(
        given["tool_code"].text() if "tool_code" in given else None,
        given["tool_group"].text() if "tool_group" in given else None,
        given.get("when_args", {}).document(),
        given.get("result").value,
        given["error"].text() if "error" in given else None,
        _times(given),
    )


def _container(node: Node) -> ContainerStub:
    given = node.fields(("page_id", "section_id", "container_id"), ("result", "error", "times"))
    given.exactly_one("result", "error", node)
    return ContainerStub(
        given["page_id"].whole(),
        given["section_id"].whole(),
        given["container_id"].whole(),
        given.get("result").value,
        given["error"].text() if "error" in given else None,
        _times(given),
    )


def _times(given: Fields) -> int | None:
    return given["times"].whole(1) if "times" in given else None


def _turn(node: Node) -> Turn:
    given = node.fields(("user",), ("conversation", "thread", "at", "before", "input_params", "reset", "expect"))
    for other in ("conversation", "reset"):
        if "thread" in given and other in given:
            raise given[other].error("cannot be said of a turn that names a `thread`.")
    return Turn(
        None if given["user"].value is None else given["user"].text(),
        given.get("conversation", MAIN).text(),
        _each(given, "before", _edit),
        given["input_params"].document() if "input_params" in given else None,
        given.get("reset", False).flag(),
        expectations.read(given.get("expect", {})),
        _thread(given["thread"]) if "thread" in given else None,
        _moment(given["at"]) if "at" in given else None,
    )


def _thread(node: Node) -> ThreadName:
    given = node.fields(("remote_jid",), ("workspace_id", "channel"))
    return ThreadName(
        given.get("workspace_id", "default").text(), given.get("channel", "whatsapp").text(), given["remote_jid"].text()
    )


def _moment(node: Node) -> timedelta:
    """A time such as `30m` or `7d 1s`."""
    parts = _PART.findall(node.text())
    if not parts or _PART.sub("", node.text()).strip():
        raise node.error("must be a time since the beginning, such as `0s`, `30m`, `24h` or `7d 1s`.")
    return sum((timedelta(**{_UNITS[unit]: int(number)}) for number, unit in parts), timedelta())


def _edit(node: Node) -> Edit:
    kinds = [kind for kind in _EDITS if kind in node.entries()]
    if len(kinds) != 1:
        raise node.error(f"needs exactly one of {', '.join(f'`{kind}`' for kind in _EDITS)}.")
    kind = kinds[0]
    given = node.fields(*_EDIT_KEYS[kind])
    table = given[kind].text()
    model = tables.read_table(given[kind], table)
    values = given["row" if kind == "insert" else "set"] if kind != "delete" else None
    return Edit(
        kind,
        table,
        tables.read_row(values, model) if values else {},
        tables.read_row(given["where"], model) if "where" in given else {},
    )


_EDIT_KEYS: Mapping[str, tuple[Sequence[str], ...]] = {
    "insert": (("insert", "row"),),
    "update": (("update", "where", "set"),),
    "delete": (("delete", "where"),),
}
