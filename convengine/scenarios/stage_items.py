"""Stages in their order: a subsequence of a turn's audit rows, with matchers on their payloads (scenario format 6)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from convengine.scenarios import paths
from convengine.scenarios.happened import Row
from convengine.scenarios.matchers import holds
from convengine.scenarios.reading import Node

Json = Any
_FRAME = ("STEP_ENTER", "STEP_EXIT")


@dataclass(frozen=True)
class StageItem:
    """One row that must occur."""

    stage: str
    #: JSON path of the payload -> matcher.
    payload: Mapping[str, Json] = field(default_factory=dict)

    def missed(self, row: Row) -> tuple[str, Json, Json] | None:
        """Path, matcher and value of the first part of the payload that is not as it must be."""
        for path, matcher in self.payload.items():
            got = paths.select(path, row.payload)
            if not holds(matcher, got):
                return path, matcher, got
        return None


def read(node: Node) -> Sequence[StageItem]:
    """A list of stage names, or of `{stage, payload}`. Raises ScenarioFileError."""
    return [_item(item) for item in node.items()]


def _item(node: Node) -> StageItem:
    if isinstance(node.value, str):
        return StageItem(node.value)
    given = node.fields(("stage",), ("payload",))
    return StageItem(given["stage"].text(), given.get("payload", {}).path_matchers())


def first_missed(items: Sequence[StageItem], rows: Sequence[Row]) -> tuple[str, Json, Json] | None:
    """Where the rows stop being what the items say: place, expected, got. Null when they hold all of them in order.

    The earliest fitting row is taken for each item, so no later item finds less than it could.
    """
    start = 0
    for number, item in enumerate(items):
        named = [place for place in range(start, len(rows)) if rows[place].named(item.stage)]
        fitting = next((place for place in named if item.missed(rows[place]) is None), None)
        if fitting is not None:
            start = fitting + 1
        elif not named:
            return f"[{number}]", item.stage, names(rows[start:])
        else:
            # Of the rows that could have been meant, the first tells most.
            path, matcher, got = item.missed(rows[named[0]]) or ("", None, None)
            return f"[{number}] {item.stage}['{path}']", matcher, got
    return None


def names(rows: Sequence[Row]) -> list[str]:
    """The stages of rows, without the frames around steps."""
    return [row.stage for row in rows if row.stage not in _FRAME]
