"""YAML of people, measured before it is built: a short text with aliases may stand for more than fits into memory."""

from collections.abc import Iterator
from typing import Any

import yaml

from convengine.engine.turn.codec import MAX_DEPTH, TOO_DEEP
from convengine.files import Unreadable
from convengine.json_value import Json

#: Maximum values of a document, and of those the ones that its aliases repeat.
_MOST_VALUES, _MOST_REPEATED = 1_000_000, 10_000


def read_yaml(text: str, loader: type[Any]) -> Json:
    """The only document of a text, as a loader of PyYAML builds it. Raises Unreadable."""
    try:
        _measure(text)
        return yaml.load(text, Loader=loader)  # noqa: S506 - the callers' loaders build texts, numbers, lists and maps
    except yaml.YAMLError as error:
        mark: Any = getattr(error, "problem_mark", None)
        problem = str(getattr(error, "problem", None) or error)
        raise Unreadable(
            f"The file is not valid YAML: {problem}.", min(mark.line, text.count("\n")) + 1 if mark else None
        ) from None


def _measure(text: str) -> None:
    """Raise Unreadable for too deep or too many values, before anything is built."""
    total, repeated, sizes = 0, 0, dict[str, int]()
    # The anchor of each open list and map, and the number of values before it.
    opened = list[tuple[str | None, int]]()
    events: Iterator[Any] = yaml.parse(text, Loader=yaml.CSafeLoader)
    for event in events:
        line = event.start_mark.line + 1
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in sizes:
                raise Unreadable(f"*{event.anchor} names nothing that ends before it.", line)
            total, repeated = total + sizes[event.anchor], repeated + sizes[event.anchor]
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = opened.pop()
            if anchor is not None:
                sizes[anchor] = total - before
            continue
        elif isinstance(event, yaml.CollectionStartEvent):
            opened.append((event.anchor, total))
        elif isinstance(event, yaml.ScalarEvent) and event.anchor is not None:
            sizes[event.anchor] = 1
        total += isinstance(event, yaml.NodeEvent)
        if len(opened) > MAX_DEPTH:
            raise Unreadable(TOO_DEEP, line)
        if repeated > _MOST_REPEATED:
            raise Unreadable(
                f"Aliases such as *{event.anchor} stand for more than {_MOST_REPEATED:,} values. Write them out.",
                line,
            )
        if total > _MOST_VALUES:
            raise Unreadable(f"There are more than {_MOST_VALUES:,} values. Split the file.")
