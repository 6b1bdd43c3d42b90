"""A row of a flow, with the parts of the document that its columns hold: written and read."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from config_admin.flows.document import Document, FlowKind, Values, write_condition
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.files.json_text import read_json
from convengine.json_value import Json

BLANK: tuple[Json, ...] = ("", None, [])
#: The columns that tell the rows of one flow apart.
IDENTITY: Mapping[str, tuple[str, ...]] = {
    rows.Intent.table: ("intent_code",),
    rows.Classifier.table: ("intent_code", "rule_type", "pattern"),
    rows.OutputSchema.table: ("intent_code", "state_code"),
    rows.Rule.table: (
        *("intent_code", "state_code", "phase", "rule_type"),
        *("match_pattern", "action", "action_value"),
    ),
    rows.Response.table: ("intent_code", "state_code", "output_format", "response_type"),
    rows.DirectTool.table: ("intent_code", "state_code"),
}
#: Columns whose values ignore case.
_CODES = frozenset({"intent_code", "state_code", "phase", "rule_type", "action", "output_format", "response_type"})


def _keep(value: Json, _: Document) -> Json:
    return value


@dataclass(frozen=True)
class Part:
    """A part of the document or of a list item. A column, or a key of its JSON, holds it."""

    #: Its key; blank for the whole item.
    key: str
    write: Callable[[Json, Document], Json] = _keep
    #: Raises ValueError for a value that no document has.
    read: Callable[[Json, Document], Json] = _keep
    #: What is written when the document leaves the part out; a part that says the same is left out.
    default: Callable[[Document], Json] = lambda _: None
    #: False for documents and items that do not have the part.
    applies: Callable[[Document], bool] = lambda _: True

    def take(self, document: Document) -> Json:
        """The value of the column."""
        value = document.get(self.key) if self.key else document
        value = self.default(document) if value in BLANK else value
        return None if value is None or not self.applies(document) else self.write(value, document)

    def give(self, stored: Json, document: Document) -> Json:
        """The document with what the column holds."""
        value = self.read(stored, document)
        if not self.key:
            return {**document, **value} if isinstance(value, Mapping) else value
        if value in BLANK or not self.applies(document) or value == self.default(document):
            return document
        return {**document, self.key: value}


#: A constant, a part, what a function makes of the document and nobody reads back, or JSON with these in its keys.
Column = Json


def write_column(column: Column, document: Document) -> Json:
    """The value of a column for a document, or for an item of its lists."""
    if isinstance(column, Part):
        return column.take(document)
    if isinstance(column, Mapping):
        written = {name: write_column(inner, document) for name, inner in column.items()}
        return {name: value for name, value in written.items() if value is not None}
    return column(document) if callable(column) else column


def read_column(column: Column, stored: Json, document: Document) -> Json:
    """The document, or the item, with the parts that a column holds."""
    if isinstance(column, Part):
        return column.give(stored, document)
    if isinstance(column, Mapping) and isinstance(stored, Mapping):
        for name, inner in column.items():
            document = read_column(inner, stored.get(name), document)
    return document


def _list_keys(column: Column) -> Iterator[str]:
    if isinstance(column, Part):
        yield column.key
    elif isinstance(column, Mapping):
        for inner in column.values():
            yield from _list_keys(inner)


@dataclass(frozen=True)
class RowShape:
    """A row of these kinds of flows, or a row for each item of a list."""

    table: str
    kinds: Sequence[FlowKind]
    #: Its columns besides the intent. A row without one of its parts is not written.
    columns: Mapping[str, Column]
    #: The list of the document that has its items.
    each: str = ""
    #: A part without which the document has no such row.
    needs: str = ""
    #: For a row that tells the kind of a flow: the columns that do.
    telling: tuple[str, ...] = ()

    def write(self, flow: Document) -> Iterator[Values]:
        if self.needs and not flow.get(self.needs):
            return
        for item in flow.get(self.each, ()) if self.each else (flow,):
            values = {name: write_column(column, item) for name, column in self.columns.items()}
            if not any(values[name] in BLANK for name in self._parts):
                yield {"intent_code": flow["code"], **values}

    def read(self, flow: Document, written: Iterable[Mapping[str, Json]]) -> Document:
        """The document with what its rows hold, as they were written or as they are stored."""
        items: list[Json] = []
        for values in written:
            is_empty = bool(self._parts) and all(values[name] in BLANK for name in self._parts)
            if is_empty or (self.needs and self.needs not in flow):
                continue
            try:
                item: Json = {} if self.each else flow
                for name, column in self.columns.items():
                    item = read_column(column, values[name], item)
            except ValueError:
                continue
            if not self.each:
                return dict(item)
            items += [item] if item not in items else []
        return {**flow, self.each: items} if items else flow

    @property
    def _parts(self) -> list[str]:
        return [name for name, column in self.columns.items() if isinstance(column, Part)]

    def list_differences(self, values: Mapping[str, Json]) -> list[str]:
        """The columns by which a row is another one; none for a row of this shape."""
        constants = {
            name: self.columns[name]
            for name in IDENTITY[self.table]
            if name in self.columns and not isinstance(self.columns[name], Part)
        }
        return [name for name, value in constants.items() if fold(name, values[name]) != fold(name, value)]

    def list_keys(self) -> set[str]:
        """The keys of the parts of a document that it holds."""
        return {self.each} if self.each else set(_list_keys(self.columns))

    def tells(self, values: Mapping[str, Json]) -> bool:
        return all(_squeeze(values[name]) == _squeeze(self.columns[name]) for name in self.telling)


def fold(name: str, value: Json) -> Json:
    """The value of a column for comparing: codes without case, conditions as a flow writes them."""
    if name in _CODES:
        return code(value or "")
    if not isinstance(value, str) or not value.lstrip().startswith("{"):
        return value
    try:
        return write_condition(read_json(value))
    except ValueError:
        return value


def _squeeze(value: Json) -> str:
    return code(str(value or "")).replace(" ", "")
