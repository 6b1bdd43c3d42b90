"""The first check of any row: does each column hold a value of its type? Imports may bring anything."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, get_type_hints

from config_admin.validation.draft import Draft
from config_admin.validation.findings import Finding
from convengine.engine.turn.rows import ROW_TYPE_OF

_WORDS: Mapping[type, str] = {str: "a text", int: "a whole number", bool: "true or false"}


def check_types(draft: Draft[Any]) -> Iterator[Finding]:
    """Texts, keys and switches; numbers with limits have their own checks, which also handle null."""
    for column, wanted in _list_column_types(draft.row.table).items():
        value = getattr(draft.row, column)
        fits = isinstance(value, wanted) and not (wanted is int and isinstance(value, bool))
        if value is not None and not fits:
            yield draft.error("SHAPE_INVALID", column, f"This must be {_WORDS[wanted]}.")


@cache
def _list_column_types(table: str) -> Mapping[str, type]:
    found = {}
    for column, hint in get_type_hints(ROW_TYPE_OF[table]).items():
        for wanted in _WORDS:
            if hint in (wanted, wanted | None) and (wanted is not int or column.endswith("id")):
                found[column] = wanted
    return found
