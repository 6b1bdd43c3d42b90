"""The first question about any row: does each column hold a value of its kind? Imports may bring anything."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, get_type_hints

from config_admin.validation.draft import Draft
from config_admin.validation.findings import Finding
from convengine.domain.rows import ROW_TYPE_OF

_WORDS: Mapping[type, str] = {str: "a text", int: "a whole number", bool: "true or false"}


def of_columns(draft: Draft[Any]) -> Iterator[Finding]:
    """Texts, keys and switches; numbers with bounds have checks of their own, and null is for those to judge too."""
    for column, wanted in _wanted(draft.row.table).items():
        value = getattr(draft.row, column)
        fits = isinstance(value, wanted) and not (wanted is int and isinstance(value, bool))
        if value is not None and not fits:
            yield draft.error("SHAPE_INVALID", column, f"This must be {_WORDS[wanted]}.")


@cache
def _wanted(table: str) -> Mapping[str, type]:
    found = {}
    for column, hint in get_type_hints(ROW_TYPE_OF[table]).items():
        for wanted in _WORDS:
            if hint in (wanted, wanted | None) and (wanted is not int or column.endswith("id")):
                found[column] = wanted
    return found
