"""Compare two JSON documents path by path."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from config_admin.comparison.word_diff import Segment, opcodes, segments
from config_admin.releases.blobs import canonical
from config_admin.releases.tree import has_same_text

Json = Any
_GONE = object()


@dataclass(frozen=True)
class PathChange:
    """One changed path of a document, such as `properties.amount.type` or `required[1]`."""

    path: str
    segments: Sequence[Segment]


def path_changes(old: Json, new: Json) -> Iterator[PathChange]:
    """The changed paths, in the order of the keys. A whole document has the blank path."""
    yield from _changes("", old, new)


def compact(value: Json) -> str:
    """A value for people: texts unchanged, documents indented."""
    return value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True)


def _changes(path: str, old: Json, new: Json) -> Iterator[PathChange]:
    if old is not _GONE and new is not _GONE and has_same_text(old, new):
        return
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            yield from _changes(_below(path, key), old.get(key, _GONE), new.get(key, _GONE))
    elif isinstance(old, list) and isinstance(new, list):
        yield from _items(path, old, new)
    else:
        yield PathChange(path, _build_segments(old, new))


def _items(path: str, old: Sequence[Json], new: Sequence[Json]) -> Iterator[PathChange]:
    texts = ([canonical(item).decode() for item in side] for side in (old, new))
    for tag, start, stop, new_start, new_stop in opcodes(*texts):
        if tag == "equal":
            continue
        was, now = old[start:stop], new[new_start:new_stop]
        for place in range(max(len(was), len(now))):
            at = (new_start if place < len(now) else start) + place
            before = was[place] if place < len(was) else _GONE
            yield from _changes(f"{path}[{at}]", before, now[place] if place < len(now) else _GONE)


def _below(path: str, key: str) -> str:
    name = key if key.replace("_", "").replace("-", "").isalnum() else json.dumps(key, ensure_ascii=False)
    return f"{path}.{name}" if path else name


def _build_segments(old: Json, new: Json) -> list[Segment]:
    if isinstance(old, str) and isinstance(new, str):
        return segments(old, new)
    found = [] if old is _GONE else [Segment("out", _quote(old))]
    return found if new is _GONE else [*found, Segment("in", _quote(new))]


def _quote(value: Json) -> str:
    """A text beside a value of another kind keeps its quotes: "1" is not 1."""
    return json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True)
