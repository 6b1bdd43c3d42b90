"""How a turn is judged: what was expected at a place, and what was there."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from convengine.scenarios import paths
from convengine.scenarios.happened import Happened
from convengine.scenarios.matchers import holds
from convengine.scenarios.reading import Node

Json = Any


@dataclass(frozen=True)
class Miss:
    """An expectation that does not hold."""

    #: Its place below the turn, such as `expect.context['$.a']`.
    where: str
    expected: Json
    got: Json


@dataclass(frozen=True)
class Expectation:
    """One key: reads its value strictly, and says where a turn misses it."""

    read: Callable[[Node], Json]
    misses: Callable[[Json, Happened], Iterable[Miss]]


def unless(fine: bool, where: str, expected: Json, got: Json) -> Iterator[Miss]:
    """The miss at a place below the key, unless all is fine."""
    if not fine:
        yield Miss(where, expected, got)


def value(look: Callable[[Happened], Json]) -> Callable[[Json, Happened], Iterator[Miss]]:
    """A matcher on one value of the turn."""

    def compare(matcher: Json, happened: Happened) -> Iterator[Miss]:
        got = look(happened)
        yield from unless(holds(matcher, got), "", matcher, got)

    return compare


def by_name(look: Callable[[Happened], Mapping[str, Json] | None]) -> Callable[[Json, Happened], Iterator[Miss]]:
    """Matchers on the values of a flat map."""

    def compare(wanted: Mapping[str, Json], happened: Happened) -> Iterator[Miss]:
        values = look(happened) or {}
        for name, matcher in wanted.items():
            got = values.get(name)
            yield from unless(holds(matcher, got), f".{name}", matcher, got)

    return compare


def by_path(wanted: Mapping[str, Json], document: Json, under: str = "") -> Iterator[Miss]:
    """Matchers on the parts of a document."""
    for path, matcher in wanted.items():
        got = paths.select(path, document)
        yield from unless(holds(matcher, got), f"{under}['{path}']", matcher, got)
