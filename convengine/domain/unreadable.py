"""A stored value that its column cannot hold, as a release keeps it, and what is said of its row (R50, R64)."""

from collections.abc import Mapping
from typing import Any

Json = Any
#: The one key of the object that stands in a release in the place of such a value.
MARK = "$unreadable"
_SHOWN = 200


def unreadable(value: Any) -> dict[str, str]:
    """What a release keeps of it: enough to find it again, and to see that it changed."""
    return {MARK: value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)}


def found_in(content: Mapping[str, Json]) -> dict[str, str]:
    """The columns of a row's content that hold no value of theirs, with what stands there."""
    return {
        name: str(value[MARK])
        for name, value in content.items()
        if isinstance(value, dict) and len(value) == 1 and MARK in value
    }
