"""Load scenario files. scenario.schema.json describes the document; the tables describe rows."""

import re
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any

import yaml

from convengine.engine.llm.scripted import ScriptLine
from convengine.engine.steps.tools.scripted import Stub
from convengine.engine.turn.codec import dumps
from convengine.scenarios import schema, tables
from convengine.scenarios.scenario import (
    MAIN,
    PURPOSES,
    ContainerStub,
    Edge,
    Edit,
    Scenario,
    Start,
    TaskStub,
    ThreadName,
    Turn,
)
from convengine.scenarios.schema import ScenarioFileError
from convengine.scenarios.settings_map import world_settings

Json = Any
_PART = re.compile(r"(\d+)(ms|s|m|h|d)\b")
_UNITS = {"ms": "milliseconds", "s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


def files(paths: Iterable[Path]) -> list[Path]:
    """The scenario files of all paths, without duplicates: a file itself, or every `*.yaml` in a folder and below."""
    yaml_files = [file for path in paths for file in (sorted(path.rglob("*.yaml")) if path.is_dir() else [path])]
    return list(dict.fromkeys(yaml_files))


def load(file: Path) -> Scenario:
    """The scenario of a file. Raises ScenarioFileError with the position and the error."""
    given = read_yaml(file)
    schema.check(given)
    if given["id"] != file.stem:
        raise ScenarioFileError("id", f"`{given['id']}` must be the name of the file, `{file.stem}`.")
    settings = world_settings(given.get("settings", {}))
    for table in given.get("tables", {}):
        tables.check_table(table, f"tables.{table}")
    return Scenario(
        id=given["id"],
        title=given["title"],
        turns=tuple(_turn(turn, f"turns[{number}]") for number, turn in enumerate(given["turns"])),
        covers=tuple(given.get("covers", ())),
        why=given.get("why", ""),
        requires=tuple(given.get("requires", ())),
        settings=settings,
        tables={
            table: tuple(tables.read_row(row, table, f"tables.{table}[{number}]") for number, row in enumerate(rows))
            for table, rows in given.get("tables", {}).items()
        },
        edges=(
            *(Edge(start, end) for start, end in settings.transitions),
            *(Edge(edge["from"], edge["to"], edge.get("intent")) for edge in given.get("state_graph", ())),
        ),
        start=_start(given["conversation"]) if "conversation" in given else None,
        model=given.get("model", True),
        llm=tuple(_build_script_line(**line) for line in given.get("llm", ())),
        tasks=tuple(TaskStub(**task) for task in given.get("tasks", ())),
        tools=tuple(Stub(**tool) for tool in given.get("tools", ())),
        containers=tuple(ContainerStub(**container) for container in given.get("containers", ())),
    )


def _start(given: Json) -> Start:
    row = {key: given[key] for key in ("intent_code", "state_code", "status") if key in given}
    row["context_json"] = given.get("context", {})
    row["input_params_json"] = given.get("input_params", {})
    return Start(row, tuple((exchange["user"], exchange["assistant"]) for exchange in given.get("history", ())))


def _build_script_line(when: Json, reply: Json = "", error: str | None = None, times: int | None = None) -> ScriptLine:
    return ScriptLine(
        PURPOSES[when["purpose"]],
        reply if isinstance(reply, str) else dumps(reply),
        error,
        _texts(when.get("contains", ())),
        _texts(when.get("prompt_contains", ())),
        times,
    )


def _texts(given: Json) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def _turn(given: Json, location: str) -> Turn:
    expect = given.get("expect", {})
    tables.check_columns(expect.get("persisted", {}), "ce_conversation", f"{location}.expect.persisted")
    return Turn(
        given["user"],
        given.get("conversation", MAIN),
        tuple(_edit(edit, f"{location}.before[{number}]") for number, edit in enumerate(given.get("before", ()))),
        given.get("input_params"),
        given.get("reset", False),
        expect,
        ThreadName(**given["thread"]) if "thread" in given else None,
        _duration(given["at"]) if "at" in given else None,
    )


def _duration(text: str) -> timedelta:
    """A time such as `30m` or `7d 1s`."""
    return sum((timedelta(**{_UNITS[unit]: int(number)}) for number, unit in _PART.findall(text)), timedelta())


def _edit(given: Json, location: str) -> Edit:
    kind = next(kind for kind in ("insert", "update", "delete") if kind in given)
    table = given[kind]
    tables.check_table(table, f"{location}.{kind}")
    key = "row" if kind == "insert" else "set"
    return Edit(
        kind,
        table,
        tables.read_row(given.get(key, {}), table, f"{location}.{key}"),
        tables.read_row(given.get("where", {}), table, f"{location}.where"),
    )


class _Loader(yaml.SafeLoader):
    """Dates stay texts, as in JSON; a key that is duplicate or not a text is an error."""


_Loader.yaml_implicit_resolvers = {
    letter: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for letter, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def _mapping(loader: _Loader, node: yaml.MappingNode) -> dict[str, Json]:
    loader.flatten_mapping(node)
    mapping: dict[str, Json] = {}
    for key_node, value_node in node.value:
        key = loader.construct_object(key_node, deep=True)
        line = f"line {key_node.start_mark.line + 1}"
        if not isinstance(key, str):
            raise ScenarioFileError(line, f"the key {key!r} is no text; put it in quotes.")
        if key in mapping:
            raise ScenarioFileError(line, f"the key `{key}` stands twice.")
        mapping[key] = loader.construct_object(value_node, deep=True)
    return mapping


_Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


def read_yaml(file: Path) -> Json:
    """The document of a YAML file. Raises ScenarioFileError."""
    try:
        return yaml.load(file.read_text(encoding="utf-8"), Loader=_Loader)  # noqa: S506 - a safe loader
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        location = f"line {mark.line + 1}" if mark else ""
        raise ScenarioFileError(location, f"is no YAML: {getattr(error, 'problem', None) or error}.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ScenarioFileError("", f"cannot be read: {error}.") from None
