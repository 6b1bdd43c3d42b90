"""The plain subset of JSONPath that scenarios use: `$`, `.name`, `['name']`, `[n]`."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

Json = Any
_PART = re.compile(r"""\.([^.*\[\]'"\s]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]""")


class PathError(ValueError):
    """An invalid path; the message says where."""


@lru_cache(maxsize=1024)
def split_path(path: str) -> tuple[str | int, ...]:
    """Names and list indexes of a path. Raises PathError."""
    if not path.startswith("$"):
        raise PathError(f"the path {path!r} must begin with $.")
    found: list[str | int] = []
    place = 1
    while place < len(path):
        match = _PART.match(path, place)
        if match is None:
            raise PathError(f"the path {path!r} is not understood from {path[place:]!r} on.")
        name, number, single, double = match.groups()
        quoted = single if single is not None else double
        found.append(int(number) if number else name or re.sub(r"\\(.)", r"\1", quoted))
        place = match.end()
    return tuple(found)


def select(path: str, document: Json) -> Json:
    """The value at a path, or null. Raises PathError."""
    value = document
    for part in split_path(path):
        if isinstance(part, int):
            value = value[part] if isinstance(value, list) and part < len(value) else None
        else:
            value = value.get(part) if isinstance(value, Mapping) else None
    return value
