"""What is expected of a turn's audit rows and of its trace."""

from collections.abc import Iterator
from typing import Any

from convengine.scenarios import stage_items
from convengine.scenarios.happened import Happened
from convengine.scenarios.judging import Expectation, Miss, unless
from convengine.scenarios.matchers import holds
from convengine.scenarios.reading import Node

Json = Any


def _read_names(node: Node) -> Json:
    return list(node.texts())


def _read_alternatives(node: Node) -> Json:
    return [list(item.texts()) for item in node.items()]


def _stages_absent(wanted: Json, happened: Happened) -> Iterator[Miss]:
    for name in wanted:
        found = [row.stage for row in happened.rows if row.named(name)]
        yield from unless(not found, "", f"no {name}", found)


def _any_of(wanted: Json, happened: Happened) -> Iterator[Miss]:
    for number, names in enumerate(wanted):
        fits = any(row.named(name) for row in happened.rows for name in names)
        yield from unless(fits, f"[{number}]", names, stage_items.names(happened.rows))


def _counts(wanted: Json, happened: Happened) -> Iterator[Miss]:
    for name, matcher in wanted.items():
        got = sum(row.named(name) for row in happened.rows)
        yield from unless(holds(matcher, got), f".{name}", matcher, got)


def _meta_absent(wanted: bool, happened: Happened) -> Iterator[Miss]:
    found = [row.stage for row in happened.rows if "_meta" in row.payload]
    if wanted:
        yield from unless(not found, "", "no _meta", found)


def _stages_in_order(wanted: Json, happened: Happened) -> Iterator[Miss]:
    missed = stage_items.first_missed(wanted, happened.rows)
    if missed:
        yield Miss(*missed)


def _steps_in_order(wanted: Json, happened: Happened) -> Iterator[Miss]:
    left = iter(happened.steps)
    for number, name in enumerate(wanted):
        yield from unless(name in left, f"[{number}]", name, list(happened.steps))


def _steps_absent(wanted: Json, happened: Happened) -> Iterator[Miss]:
    for name in wanted:
        yield from unless(name not in happened.steps, "", f"no {name}", list(happened.steps))


STAGES_IN_ORDER = Expectation(stage_items.read, _stages_in_order)
STAGES_ABSENT = Expectation(_read_names, _stages_absent)
ANY_OF = Expectation(_read_alternatives, _any_of)
COUNTS = Expectation(Node.matchers, _counts)
META_ABSENT = Expectation(Node.flag, _meta_absent)
STEPS_IN_ORDER = Expectation(_read_names, _steps_in_order)
STEPS_ABSENT = Expectation(_read_names, _steps_absent)
