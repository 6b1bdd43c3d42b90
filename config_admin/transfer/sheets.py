"""Tables in spreadsheets: CSV, and workbooks with a sheet per table.

The first row names the columns. An empty cell is null, or the empty text if a column must have one; JSON is JSON text.
A text that a spreadsheet would take for a formula, or that begins with an apostrophe, gets an apostrophe in front, and
so does an empty text that is not null; reading removes one.
"""

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from django.db import models

from config_admin.transfer.document import BaseRelease, Document, FileRefused, FileRow, Mode, locate_row, refuse
from config_admin.transfer.natural_keys import (
    Contents,
    list_file_columns,
    list_file_rows,
    suggest_column,
    suggest_table,
)
from config_admin.transfer.values import ValueRefused, parse_text
from config_admin.validation.secret_columns import mask_row
from convengine.engine.turn.rows import ROW_TYPE_OF

Json = Any
Cells = Sequence[str]
#: What a spreadsheet takes for the start of a formula; and our own mark.
_RISKY = ("=", "+", "-", "@", "\t", "\r", "'")
#: The last cell of the first row: the number of the base release, and the hash of its content.
_BASE = re.compile(r"base (\d{1,18}) ([0-9a-f]{64})")
_DELIMITERS = (",", ";", "\t")


def write_csv(contents: Contents, table: str, base: BaseRelease | None = None) -> bytes:
    """The rows of a table, in the order of bundles. The first row names the base after the columns."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerows(cells_of(contents, table, base))
    return text.getvalue().encode()


def cells_of(contents: Contents, table: str, base: BaseRelease | None = None) -> Iterator[list[str]]:
    """The names of the columns and the base, then the rows."""
    columns = list_file_columns(table)
    yield [*columns, *([f"base {base.release} {base.content}"] if base else [])]
    for row in list_file_rows(contents, table):
        masked = mask_row(table, row)
        yield [_cell(column, masked[name]) for name, column in columns.items()]


def read_csv(name: str, text: str) -> Document:
    """The rows of a file that has the name of its table. Raises FileRefused."""
    table = Path(name).stem.lower()
    # Some spreadsheets write a first line about the delimiter.
    text = re.sub(r"\A\s*sep=[,;\t](?=[\r\n])", "", text)
    first = re.search(r"[^\r\n]+", text)
    delimiter = max(_DELIMITERS, key=first.group().count) if first else ","
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        lines = [(reader.line_num, cells) for cells in reader]
    except csv.Error as error:
        raise FileRefused(f"Line {reader.line_num}", f"not valid CSV: {error}.") from None
    return Document({table: rows_of(table, lines)}, Mode.UPDATE, base=read_base(lines))


def read_base(lines: Iterable[tuple[int, Cells]]) -> BaseRelease | None:
    """The base that the first row names after the columns, or null."""
    names = next((cells for _, cells in lines if any(cells)), ())
    match = next((match for name in names if (match := _BASE.fullmatch(name.strip()))), None)
    return BaseRelease(int(match[1]), match[2]) if match else None


def rows_of(table: str, lines: Iterable[tuple[int, Cells]]) -> list[FileRow]:
    """The rows below the names of the columns, each with its line. Raises FileRefused for all unreadable ones."""
    if table not in ROW_TYPE_OF:
        hint = suggest_table(table)
        raise FileRefused(
            table,
            f"is not a table. Name the file or sheet after a table, for example ce_rule.{hint} "
            "For questions and answers, use Intents → FAQ.",
        )
    ahead = iter(lines)
    _, names = next(((line, cells) for line, cells in ahead if any(cells)), (1, ()))
    names = ["" if _BASE.fullmatch(name.strip()) else name for name in names]
    names = names[: max((column for column, name in enumerate(names, 1) if name), default=0)]
    _check_names(table, names)
    rows, wrong = [], []
    for line, cells in ahead:
        try:
            rows += [_row(table, names, cells, locate_row(table, line, "line"))] if any(cells) else []
        except FileRefused as refused:
            wrong.append(refused)
    refuse(wrong)
    return rows


def _check_names(table: str, names: Cells) -> None:
    columns = list_file_columns(table)
    if not names:
        raise FileRefused(table, "is empty. The first row must contain the column names.")
    for name in names:
        if name not in columns:
            raise FileRefused(table, f"has no column {name!r}.{suggest_column(table, name, columns)}")
    if len(set(names)) != len(names):
        raise FileRefused(table, "has a duplicate column.")


def _row(table: str, names: Cells, cells: Cells, where: str) -> FileRow:
    if len(cells) > len(names) and any(cells[len(names) :]):
        raise FileRefused(where, f"has {len(cells)} cells below {len(names)} columns.")
    columns = list_file_columns(table)
    values: dict[str, Json] = {}
    wrong = []
    for name, cell in zip(names, cells, strict=False):
        try:
            values[name] = _value(columns[name], cell)
        except ValueRefused as error:
            wrong.append(FileRefused(f"{where}, {name}", str(error)))
    refuse(wrong)
    return FileRow({name: value for name, value in values.items() if value is not None or columns[name].null}, where)


def _cell(column: "models.Field[Any, Any]", value: Json) -> str:
    if value is None:
        return ""
    if isinstance(column, models.JSONField):
        value = json.dumps(value, sort_keys=True, ensure_ascii=False)
    elif isinstance(value, bool):
        return "true" if value else "false"
    elif not isinstance(value, str):
        return str(value)
    marked = value.startswith(_RISKY) or (not value and column.null)
    return f"'{value}" if marked else str(value)


def _value(column: "models.Field[Any, Any]", cell: str) -> Json:
    if not cell:
        return "" if isinstance(column, (models.CharField, models.TextField)) and not column.null else None
    text = cell[1:] if cell.startswith("'") else cell
    return parse_text(column, text)
