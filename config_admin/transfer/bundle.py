"""The bundle: the whole configuration, or some tables of it, as one YAML or JSON text, byte for byte the same for the
same rows. `mode` is optional: how an import matches the rows; without it, the tables become what the bundle says.
`base` is the release that the bundle was exported from; an import takes back no change that was made since.
`ancestry` lists what the base comes from, so that another installation finds what it has of it, and has a checksum of
the rows.

    format: convengine-configuration
    version: 1
    mode: add
    base: {release: 41, content: 5f0c…}
    tables:
      ce_intent:
      - intent_code: CANCEL_ORDER
        ...
"""

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from math import isfinite
from types import MappingProxyType
from typing import Any

import yaml

from config_admin.releases.blobs import canonical, hash_of
from config_admin.transfer.document import (
    SECTIONS,
    Ancestor,
    BaseRelease,
    Document,
    FileRefused,
    FileRow,
    ImportMode,
    Note,
    locate_row,
    read_numbers,
)
from config_admin.transfer.natural_keys import Contents, list_file_rows, suggest_table
from config_admin.validation.secret_columns import mask_row
from convengine.engine.text.wording import did_you_mean
from convengine.engine.turn.codec import MAX_DEPTH, TOO_DEEP, sort_keys
from convengine.engine.turn.rows import ROW_TYPE_OF
from convengine.files import Unreadable
from convengine.files.json_text import MAX_DIGITS, read_json
from convengine.json_value import Json

#: Where editors find the JSON Schema, from the bundle: `manage.py config_schemas` writes it there.
SCHEMA = "schemas/bundle.schema.json"
FORMAT, VERSION = "convengine-configuration", 1
_KEYS = frozenset({"$schema", "format", "version", "mode", "base", "tables", "ancestry"})
#: The parts of the base of a bundle, in YAML and in JSON; and the base, with these in any order.
_RELEASE, _CONTENT = r"""(release["']?\s*:\s*)\d+""", r"""(content["']?\s*:\s*["']?)[0-9a-f]+"""
_BASE = re.compile(rf"""\bbase["']?\s*:\s*\{{?(?:\s*["']?(?:{_RELEASE}|{_CONTENT}["']?),?){{2}}""")
#: The ancestry with all that is indented below it. Editors may have put other keys behind it.
_ANCESTRY = re.compile(r'^(?:ancestry:.*(?:\n(?:[ \t].*)?)*| "ancestry": \{\n(?:  .*\n)* \})', re.MULTILINE)
_STR = "tag:yaml.org,2002:str"
_WIDTH = 110
#: Document, tables, rows and columns contain the values of columns.
_DEPTH = MAX_DEPTH + 4


class _Dumper(yaml.CSafeDumper):
    """Texts of several lines are written line by line."""


def _represent_text(dumper: _Dumper, value: str) -> yaml.ScalarNode:
    return dumper.represent_scalar(_STR, value, style="|" if "\n" in value else None)


_Dumper.add_representer(str, _represent_text)


def write_bundle(
    contents: Contents,
    tables: Collection[str],
    *,
    as_yaml: bool,
    mode: ImportMode | None = None,
    base: BaseRelease | None = None,
    ancestors: Iterable[Ancestor] = (),
    sections: Mapping[str, Json] = MappingProxyType({}),
) -> str:
    """The text of some tables' rows. Null columns are left out, and keys inside JSON columns are sorted.

    `mode`: how an import matches the rows, unless its user chooses; None is the mode of bundles. `ancestors`: what the
    base comes from.
    """
    shown = {
        table: [
            {name: sort_keys(value) for name, value in mask_row(table, row).items() if value is not None}
            for row in rows
        ]
        for table, rows in ((table, list_file_rows(contents, table)) for table in contents if table in tables)
    }
    document: dict[str, Json] = {"$schema": SCHEMA, "format": FORMAT, "version": VERSION}
    document |= {"mode": mode.value} if mode else {}
    document |= {"base": base._asdict()} if base else {}
    document |= {"tables": shown, **sections}
    document |= {"ancestry": _build_ancestry(shown, ancestors)} if base else {}
    if not as_yaml:
        return json.dumps(document, indent=1, ensure_ascii=False) + "\n"
    return f"# yaml-language-server: $schema={SCHEMA}\n{_write_yaml(document)}"


def replace_base(text: str, base: BaseRelease, ancestors: Iterable[Ancestor]) -> str:
    """A bundle with another base and its ancestry. Everything else stays as it is, comments too."""
    if block := _BASE.search(text):
        written = re.sub(_RELEASE, rf"\g<1>{base.release}", re.sub(_CONTENT, rf"\g<1>{base.content}", block[0]))
        text = text[: block.start()] + written + text[block.end() :]
    ancestry_block = _ANCESTRY.search(text)
    if ancestry_block is None:
        return text
    is_json = text.lstrip("\ufeff \t\r\n").startswith("{")
    tables = (_parse_json(text.lstrip("\ufeff")) if is_json else _parse_yaml(text, {}))["tables"]
    ancestry = {"ancestry": _build_ancestry(tables, ancestors)}
    # The braces of the document around it stay.
    written = json.dumps(ancestry, indent=1)[2:-2] if is_json else _write_yaml(ancestry)
    return text[: ancestry_block.start()] + written + text[ancestry_block.end() :]


def _write_yaml(document: Json) -> str:
    return str(yaml.dump(document, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=_WIDTH))


def _build_ancestry(tables: Json, ancestors: Iterable[Ancestor]) -> Json:
    """The checksum of the tables, and the contents that the base comes from."""
    contents = [
        {
            "content": content,
            "numbers": {
                table: {str(number): other for number, other in pairs.items()} for table, pairs in numbers.items()
            },
        }
        if numbers
        else content
        for content, numbers in ancestors
    ]
    return {"checksum": _compute_checksum(tables), "contents": contents}


def _compute_checksum(tables: Json) -> str:
    """It shows whether somebody edited the rows of an export."""
    return hash_of(canonical(tables))[:16]


def read_bundle(text: str) -> Document:
    """The rows of a bundle, YAML or JSON; also of the short form, which is its `tables` alone.

    Raises FileRefused.
    """
    if text.lstrip("\ufeff \t\r\n").startswith("{"):
        return _build_document(_parse_json(text.lstrip("\ufeff")), {})
    places: dict[int, int] = {}
    return _build_document(_parse_yaml(text, places), places)


def _build_document(content: Json, lines: Mapping[int, int]) -> Document:
    """The document of a parsed bundle, with or without its head. `lines`: the line of a row, by its id.

    Raises FileRefused.
    """
    if not isinstance(content, dict):
        raise FileRefused(
            "The file", "this is not a configuration. Export one to see its form: tables with lists of rows."
        )
    sections = {
        name: _read_rows(name, content[name], lines, lambda section, number: f"{section}, entry {number}")
        for name in SECTIONS
        if name in content
    }
    notes = [Note(name, "left out. `convengine apply` takes them.") for name in sections]
    head = {name: value for name, value in content.items() if name not in sections}
    if head.keys().isdisjoint(_KEYS - {"$schema"}):
        head.pop("$schema", None)
        return Document(_list_tables(head, lines), notes=notes, sections=sections)
    _check_head(head)
    tables = head.get("tables", {} if sections else None)
    if not isinstance(tables, dict):
        raise FileRefused("tables", "this must name tables, each with a list of rows.")
    mode = head.get("mode", ImportMode.REPLACE.value)
    if mode not in ImportMode.__members__.values():
        raise FileRefused("mode", f"{mode!r} is not supported. The modes are {', '.join(ImportMode)}.")
    rows_by_table = _list_tables(tables, lines)
    checksum, ancestors = _read_ancestry(head.get("ancestry"))
    is_whole = tables.keys() == ROW_TYPE_OF.keys() and checksum == _compute_checksum(tables)
    return Document(
        rows_by_table,
        ImportMode(mode),
        notes,
        base=_read_base(head.get("base")),
        ancestors=ancestors,
        is_whole_export=is_whole,
        sections=sections,
    )


def _check_head(head: Mapping[str, Json]) -> None:
    """Raise FileRefused for another format or version, and for unknown keys."""
    for name, wanted in (("format", FORMAT), ("version", VERSION)):
        if head.get(name, wanted) != wanted:
            raise FileRefused(name, f"{head.get(name)!r} is not supported. This installation reads {wanted!r}.")
    if unknown := sorted(head.keys() - _KEYS):
        hints = "".join(did_you_mean(name, SECTIONS) for name in unknown)
        raise FileRefused("The file", f"has unknown keys: {', '.join(unknown)}.{hints}")


def _list_tables(tables: Mapping[str, Json], lines: Mapping[int, int]) -> dict[str, list[FileRow]]:
    listed: dict[str, list[FileRow]] = {}
    for table, rows in tables.items():
        if table not in ROW_TYPE_OF:
            hint, known = did_you_mean(table, SECTIONS) or suggest_table(table), ", ".join(ROW_TYPE_OF)
            raise FileRefused(table, f"is not a table of the configuration.{hint} The tables are {known}.")
        listed[table] = _read_rows(table, rows, lines, locate_row)
    return listed


def _read_base(value: Json) -> BaseRelease | None:
    """The base of a file. Returns None if it has none. Raises FileRefused."""
    match value:
        case None:
            return None
        case {"release": int(release), "content": str(content)} if len(value) == 2:
            return BaseRelease(release, content)
    raise FileRefused("base", "must have release, a number, and content, a hash. Export again, or leave base out.")


def _read_ancestry(value: Json) -> tuple[str, list[Ancestor]]:
    """The checksum and the contents. Raises FileRefused."""
    try:
        match value:
            case None:
                return "", []
            case {"checksum": str(checksum), "contents": list(contents)}:
                pairs = [
                    (each, {}) if isinstance(each, str) else (each["content"], each["numbers"]) for each in contents
                ]
                if all(isinstance(content, str) for content, _ in pairs):
                    return checksum, [Ancestor(content, read_numbers(numbers)) for content, numbers in pairs]
    except (TypeError, ValueError, KeyError, AttributeError):
        pass
    raise FileRefused("ancestry", "is damaged. Export again, or leave ancestry and base out.")


def _read_rows(name: str, rows: Json, lines: Mapping[int, int], locate: Callable[[str, int], str]) -> list[FileRow]:
    """The rows of a table or section, each with its position in the file. Raises FileRefused."""
    if not isinstance(rows, list):
        raise FileRefused(name, "must be a list of rows.")
    read = []
    for number, row in enumerate(rows, 1):
        where = locate(name, number)
        if not isinstance(row, dict):
            raise FileRefused(where, "must be a map of columns.")
        read.append(FileRow(row, f"{where} (line {lines[id(row)]})" if id(row) in lines else where))
    return read


def _parse_json(text: str) -> Json:
    """The value of a JSON text. Raises FileRefused."""
    try:
        return read_json(text, _DEPTH)
    except Unreadable as error:
        if error.line is None:
            raise FileRefused("The file", error.problem) from None
        raise FileRefused(f"Line {error.line}, column {error.column}", f"not valid JSON: {error.problem}.") from None


def _parse_yaml(text: str, lines: dict[int, int]) -> Json:
    """The value of a YAML text; the line of each map is noted in `lines`. Raises FileRefused."""
    loader = yaml.CSafeLoader(text)
    try:
        return _Reading(loader, lines).document()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        position = f"Line {mark.line + 1}, column {mark.column + 1}" if mark else "The file"
        raise FileRefused(position, f"not valid YAML: {getattr(error, 'problem', None) or error}.") from None
    finally:
        loader.dispose()


class _Reading:
    """Parses YAML events to JSON values: no dates, aliases, tags or duplicate keys; maps note their first line.

    By events, because the library's composer recurses as deep as the file.
    """

    def __init__(self, loader: Any, lines: dict[int, int]) -> None:
        self._loader, self._lines = loader, lines

    def document(self) -> Json:
        """The value of the only document. Returns None if there is none. Raises FileRefused."""
        event = self._get_event(yaml.StreamStartEvent, yaml.DocumentStartEvent)
        if isinstance(event, yaml.StreamEndEvent):
            return None
        document = self._read_value(event, 0)
        if not isinstance(self._get_event(yaml.DocumentEndEvent), yaml.StreamEndEvent):
            raise FileRefused("The file", "has more than one document (---).")
        return document

    def _get_event(self, *passing: type) -> Any:
        """The next event that is none of the types to pass."""
        event = self._loader.get_event()
        while isinstance(event, passing):
            event = self._loader.get_event()
        return event

    def _read_value(self, event: Any, depth: int) -> Json:
        """The value that begins with an event. Raises FileRefused for aliases, tags and too deep values."""
        if isinstance(event, yaml.ScalarEvent):
            return self._read_scalar(event)
        if isinstance(event, yaml.AliasEvent) or event.tag is not None:
            raise _make_refusal_at(event, "aliases (*) and tags (!) are not supported.")
        if depth > _DEPTH:
            raise _make_refusal_at(event, TOO_DEEP)
        if not isinstance(event, yaml.SequenceStartEvent):
            return self._read_map(event, depth)
        items = []
        while not isinstance(event := self._loader.get_event(), yaml.SequenceEndEvent):
            items.append(self._read_value(event, depth + 1))
        return items

    def _read_map(self, start: Any, depth: int) -> dict[str, Json]:
        """The map after its start event. Raises FileRefused for a key that is no text or occurs twice."""
        mapping: dict[str, Json] = {}
        while not isinstance(event := self._loader.get_event(), yaml.MappingEndEvent):
            key = self._read_value(event, depth + 1)
            if not isinstance(key, str):
                raise _make_refusal_at(event, "this key is not a text. Put it in quotes.")
            if key in mapping:
                raise _make_refusal_at(event, f"the key {key!r} occurs twice.")
            mapping[key] = self._read_value(self._loader.get_event(), depth + 1)
        self._lines[id(mapping)] = start.start_mark.line + 1
        return mapping

    def _read_scalar(self, event: Any) -> Json:
        """The text, number, boolean or null of an event. Raises FileRefused for what JSON does not have."""
        tag = self._loader.resolve(yaml.ScalarNode, event.value, event.implicit) if event.tag is None else event.tag
        kind = tag.removeprefix("tag:yaml.org,2002:")
        if kind in ("str", "timestamp", "value", "merge"):
            return event.value
        if kind not in ("null", "bool", "int", "float"):
            raise _make_refusal_at(event, f"the tag {tag} is not supported.")
        try:
            if len(event.value) > MAX_DIGITS:
                raise ValueError
            scalar = self._loader.construct_object(yaml.ScalarNode(tag, event.value, event.start_mark, event.end_mark))
        except (ValueError, KeyError):
            raise _make_refusal_at(
                event, f"{event.value[:20]!r} is not a value of the type {kind}. Put texts in quotes."
            ) from None
        if isinstance(scalar, float) and not isfinite(scalar):
            raise _make_refusal_at(event, f"{event.value} is not a JSON value.")
        return scalar


def _make_refusal_at(event: Any, problem: str) -> FileRefused:
    return FileRefused(f"Line {event.start_mark.line + 1}", problem)
