"""Display of session values: the path, and the value on one line."""

import json

from convengine.engine.text.compare import shorten
from convengine.engine.text.invisible import reveal_invisible
from convengine.json_value import Json

#: Maximum length of a value on one line.
EXCERPT_SIZE = 80


def excerpt_value(value: Json) -> str:
    """A value on one line, cut, with its invisible characters by name; None is blank."""
    return "" if value is None else reveal_invisible(shorten(value_text(value), EXCERPT_SIZE))


def value_text(value: Json) -> str:
    """A text unchanged, any other value as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def dotted_path(pointer: str) -> str:
    """A pointer in dotted form: `context.orderNumber`."""
    return pointer.strip("/").replace("~1", "/").replace("~0", "~").replace("/", ".")
