"""Values that a database accepts: every text and document of a statement is made storable here, wherever it came from.

NUL and lone surrogates become U+FFFD. Numbers that JSON does not have become null.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper

from convengine.engine.text.compare import storable
from convengine.engine.turn.codec import dumps


def clean_statements(connection: BaseDatabaseWrapper, **_: Any) -> None:
    """Clean the values of all statements of a connection: a receiver of Django's `connection_created`."""
    if _execute not in connection.execute_wrappers:
        connection.execute_wrappers.append(_execute)


def _execute(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Mapping[str, Any]) -> Any:
    clean = _find_cleaner(context["connection"].vendor)
    if many:
        return execute(sql, [_clean_row(row, clean) for row in params], many, context)
    return execute(sql, _clean_row(params, clean), many, context)


def _clean_row(params: Any, clean: Callable[[Any], Any]) -> Any:
    """The parameters of one execution: by position, by name, or none."""
    if isinstance(params, Mapping):
        return {name: clean(value) for name, value in params.items()}
    return params and [clean(value) for value in params]


def _clean_value(value: Any) -> Any:
    return storable(value) if isinstance(value, str) else value


@cache
def _find_cleaner(vendor: str) -> Callable[[Any], Any]:
    """What cleans a parameter. SQLite gets documents as texts in which nothing is unstorable."""
    if vendor != "postgresql":
        return _clean_value
    from psycopg.types.json import Jsonb

    def clean_value(value: Any) -> Any:
        return Jsonb(value.obj, dumps) if isinstance(value, Jsonb) else _clean_value(value)

    return clean_value
