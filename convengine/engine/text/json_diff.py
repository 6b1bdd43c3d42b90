"""The former names of `difference`, for the modules that still use them."""

from collections.abc import Iterator

from convengine.engine.text import difference
from convengine.engine.text.difference import ABSENT, Json, JsonPath, contains_json, equal_json, format_path

__all__ = ["ABSENT", "contains_json", "diff_json", "equal_json", "format_path"]


def diff_json(before: Json, after: Json) -> Iterator[tuple[JsonPath, Json, Json]]:
    """The paths at which two JSON values differ, with both values."""
    for found in difference.diff_json(before, after):
        yield found.path, found.before, found.after
