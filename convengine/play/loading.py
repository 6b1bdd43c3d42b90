"""Load scenario files. scenario.schema.json describes the document; the tables describe rows."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import timedelta
from pathlib import Path

import yaml

from convengine.engine.llm.scripted import ScriptLine
from convengine.engine.steps.tools.scripted import Stub
from convengine.engine.turn.codec import dumps, to_strict
from convengine.files import Unreadable, yaml_text
from convengine.json_value import Json
from convengine.play import schema, tables
from convengine.play.scenario import (
    BEGINNING,
    MAIN,
    REAL,
    STUBS,
    ContainerStub,
    Edge,
    Edit,
    Scenario,
    ScenarioTurn,
    Start,
    TaskStub,
    ThreadName,
    TransformerStub,
)
from convengine.play.schema import ScenarioFileError
from convengine.play.seen_turn import PURPOSES
from convengine.play.settings_map import world_settings

_PART = re.compile(r"(\d+)(ms|s|m|h|d)\b")
_UNITS = {"ms": "milliseconds", "s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


#: The files of a folder that may be scenarios, and the key of those that are something else.
SUFFIXES = frozenset({".yaml", ".yml", ".json"})
_OTHER_FORMAT = re.compile(r"""^\s*(?:\{\s*)?["']?format["']?\s*:""")


def files(paths: Iterable[Path]) -> list[Path]:
    """The scenario files of all paths, without duplicates: a file itself, or every YAML or JSON file in a folder and
    below that does not begin with the key `format`, as configurations and recordings do.
    """
    scenario_files = [file for path in paths for file in (_list_folder(path) if path.is_dir() else [path])]
    return list(dict.fromkeys(scenario_files))


def _list_folder(folder: Path) -> list[Path]:
    listed = (file for file in folder.rglob("*") if file.suffix in SUFFIXES and not file.is_dir())
    return sorted(filter(is_scenario, listed))


def is_scenario(file: Path) -> bool:
    """False for a file that names another format in its first line; `load` says why a file cannot be read."""
    try:
        with file.open(encoding="utf-8", errors="replace") as text:
            return _OTHER_FORMAT.match("".join(line for line in text.readlines(2000) if line[:1] != "#")) is None
    except OSError:
        return True


def load(file: Path) -> Scenario:
    """The scenario of a file. Raises ScenarioFileError with the position and the error."""
    given = read_yaml(file)
    schema.check(given)
    if given["id"] != file.stem:
        raise ScenarioFileError("id", f"`{given['id']}` must be the name of the file, `{file.stem}`.")
    return _build_scenario(given, file.parent)


def read_scenario(document: Json) -> Scenario:
    """The scenario of a document that is no file. Raises ScenarioFileError with the position and the error."""
    schema.check(document)
    for key in ("configuration", "recording"):
        if key in document:
            raise ScenarioFileError(key, "names a file, which only a scenario file can do.")
    return _build_scenario(document, Path())


def _read_tables(given: Mapping[str, Json]) -> Iterator[tuple[str, tuple[Mapping[str, Json], ...]]]:
    for table in given:
        tables.check_table(table, f"tables.{table}")
    for table, rows in given.items():
        yield table, tuple(tables.read_row(row, table, f"tables.{table}[{n}]") for n, row in enumerate(rows))


def _build_scenario(given: Json, folder: Path) -> Scenario:
    """The scenario of a checked document. `folder` is where the files that it names are.

    Raises ScenarioFileError.
    """
    is_bot = "configuration" in given
    settings = world_settings(given.get("settings", {}), with_defaults=not is_bot)
    return Scenario(
        id=given["id"],
        title=given["title"],
        turns=tuple(_build_turn(turn, f"turns[{number}]") for number, turn in enumerate(given["turns"])),
        covers=tuple(given.get("covers", ())),
        why=given.get("why", ""),
        requires=tuple(given.get("requires", ())),
        settings=settings,
        tables=dict(_read_tables(given.get("tables", {}))),
        edges=(
            *(Edge(start, end) for start, end in settings.transitions),
            *(Edge(edge["from"], edge["to"], edge.get("intent")) for edge in given.get("state_graph", ())),
        ),
        start=_build_start(given["conversation"]) if "conversation" in given else None,
        model=given.get("model", not is_bot or "llm" in given or "recording" in given),
        llm=tuple(_build_script_line(**line) for line in given.get("llm", ())),
        tasks=tuple(TaskStub(**task) for task in given.get("tasks", ())),
        tools=tuple(Stub(**tool) for tool in given.get("tools", ())),
        containers=tuple(ContainerStub(**container) for container in given.get("containers", ())),
        configuration=folder / given["configuration"] if is_bot else None,
        extensions=given.get("extensions", REAL if is_bot else STUBS),
        recording=folder / given["recording"] if "recording" in given else None,
    )


#: Keys of the start with the names of their columns.
_START_COLUMNS = (
    *("intent_code", "state_code", "status", "last_user_text", "last_turn_no", "turn_count", "context_epoch"),
    *("lifecycle", "lifecycle_detail", "context_summary", "preferences", "mounted_kb_id", "channel"),
)
_START_TIMES = ("created_at", "last_message_at")


def _build_start(given: Json) -> Start:
    """The beginning of the conversation `main`, from the key `conversation`. Raises ScenarioFileError."""
    row = {key: given[key] for key in _START_COLUMNS if key in given}
    row["context_json"] = given.get("context", {})
    row["input_params_json"] = given.get("input_params", {})
    if "last_assistant" in given:
        row["last_assistant_json"] = given["last_assistant"]
    return Start(
        row,
        tuple((exchange["user"], exchange["assistant"]) for exchange in given.get("history", ())),
        given.get("previous_turn", {}),
        {key: _read_time(given[key], f"conversation.{key}") for key in _START_TIMES if key in given},
    )


def _build_script_line(
    when: Json, reply: Json = "", error: str | None = None, code: str | None = None, times: int | None = None
) -> ScriptLine:
    """One line of the model's script, from an entry of `llm`."""
    return ScriptLine(
        PURPOSES[when["purpose"]],
        reply if isinstance(reply, str) else dumps(reply),
        error,
        _texts(when.get("contains", ())),
        _texts(when.get("prompt_contains", ())),
        times,
        **({"code": code} if code else {}),
    )


def _texts(given: Json) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def _build_turn(given: Json, location: str) -> ScenarioTurn:
    """One turn from an entry of `turns`; `location` is its path, for errors. Raises ScenarioFileError."""
    expect = given.get("expect", {})
    tables.check_columns(expect.get("persisted", {}), "ce_conversation", f"{location}.expect.persisted")
    return ScenarioTurn(
        given["user"],
        given.get("conversation", MAIN),
        tuple(_build_edit(edit, f"{location}.before[{number}]") for number, edit in enumerate(given.get("before", ()))),
        given.get("input_params"),
        given.get("reset", False),
        expect,
        ThreadName(**given["thread"]) if "thread" in given else None,
        _read_time(given["at"], f"{location}.at") if "at" in given else None,
        tuple(TransformerStub(**transformer) for transformer in given.get("transformers", ())),
        given.get("may_approve", True),
    )


def parse_duration(text: str) -> timedelta:
    """A time such as `30m` or `7d 1s`."""
    return sum((timedelta(**{_UNITS[unit]: int(number)}) for number, unit in _PART.findall(text)), timedelta())


def _read_time(text: str, location: str) -> timedelta:
    """A time since the beginning of the world. Raises ScenarioFileError for one that no clock can show."""
    try:
        duration = parse_duration(text)
        BEGINNING + duration
    except (OverflowError, ValueError):
        raise ScenarioFileError(location, "is too long a time.") from None
    return duration


def _build_edit(given: Json, location: str) -> Edit:
    """One edit from an entry of `before`; `location` is its path, for errors. Raises ScenarioFileError."""
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


class _Loader(yaml.CSafeLoader):
    """Dates stay texts, as in JSON, and so do yes, no, on and off: they are what users say."""


_Loader.yaml_implicit_resolvers = {
    letter: [
        (tag, pattern)
        for tag, pattern in resolvers
        if tag != "tag:yaml.org,2002:timestamp" and (tag != "tag:yaml.org,2002:bool" or letter in "tTfF")
    ]
    for letter, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}


def _construct_mapping(loader: _Loader, node: yaml.MappingNode) -> dict[str, Json]:
    """A map whose keys are texts, each once. Raises ScenarioFileError with the line."""
    loader.flatten_mapping(node)
    mapping: dict[str, Json] = {}
    for key_node, value_node in node.value:
        key = loader.construct_object(key_node, deep=True)
        line = f"line {key_node.start_mark.line + 1}"
        if not isinstance(key, str):
            raise ScenarioFileError(line, f"the key {key!r} is not text; put it in quotes.")
        if key in mapping:
            raise ScenarioFileError(line, f"the key `{key}` occurs twice.")
        mapping[key] = loader.construct_object(value_node, deep=True)
    return mapping


_Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _construct_mapping)


def read_yaml(file: Path) -> Json:
    """The document of a YAML file. Raises ScenarioFileError."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ScenarioFileError("", f"cannot be read: {error}.") from None
    return _load_yaml(text)


def parse_yaml(text: str) -> Json:
    """The JSON value of a YAML text that somebody sent. Raises ScenarioFileError."""
    return _load_yaml(text, to_strict)


def _load_yaml(text: str, convert: Callable[[Json], Json] = lambda value: value) -> Json:
    """The converted value of a YAML text. Raises ScenarioFileError with the line."""
    try:
        return convert(yaml_text.read_yaml(text, _Loader))
    except ScenarioFileError:
        raise
    except Unreadable as error:
        raise ScenarioFileError(f"line {error.line}" if error.line else "", error.problem) from None
    except (TypeError, ValueError, OverflowError) as error:
        raise ScenarioFileError("", f"has a value that JSON cannot hold: {error}.") from None


class _Dumper(yaml.CSafeDumper):
    """Writes shared values out: people read tests."""

    def ignore_aliases(self, data: Json) -> bool:
        return True


def dump_yaml(document: dict[str, Json]) -> str:
    written: str = yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120)
    return written
