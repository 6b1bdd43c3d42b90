"""What is expected of the calls that a turn made, and of the messages that it sent meanwhile."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from convengine.domain.alike import same, within
from convengine.scenarios.happened import Happened
from convengine.scenarios.judging import Expectation, Miss, unless
from convengine.scenarios.purposes import PURPOSES
from convengine.scenarios.reading import Node
from convengine.scenarios.wording import known

Json = Any


def _read_llm_calls(node: Node) -> Json:
    if not isinstance(node.value, dict):
        return node.whole()
    for purpose, inner in node.entries().items():
        if purpose not in PURPOSES:
            raise inner.error(known(purpose, PURPOSES, "purpose"))
    return {purpose: inner.whole() for purpose, inner in node.entries().items()}


def _llm_calls(wanted: Json, happened: Happened) -> Iterator[Miss]:
    counted = Counter(happened.llm_calls)
    if isinstance(wanted, int):
        yield from unless(wanted == counted.total(), "", wanted, dict(counted) or 0)
        return
    for purpose, number in wanted.items():
        yield from unless(counted[purpose] == number, f".{purpose}", number, counted[purpose])


def _read_task_calls(node: Node) -> Json:
    calls = [item.fields(("bean", "method")) for item in node.items()]
    return [{"bean": call["bean"].text(), "method": call["method"].text()} for call in calls]


def _task_calls(wanted: Json, happened: Happened) -> Iterator[Miss]:
    got = [{"bean": bean, "method": method} for bean, method in happened.task_calls]
    yield from unless(same(wanted, got), "", wanted, got)


def _read_tool_calls(node: Node) -> Json:
    return [
        {key: inner.value for key, inner in item.fields((), ("tool_code", "tool_group", "args")).nodes.items()}
        for item in node.items()
    ]


def _tool_calls(wanted: Json, happened: Happened) -> Iterator[Miss]:
    got = [{"tool_code": c.tool_code or None, "tool_group": c.tool_group, "args": c.args} for c in happened.tool_calls]
    yield from unless(len(wanted) == len(got) and all(map(within, wanted, got)), "", wanted, got)


def _read_verbose(node: Node) -> Json:
    keys = ("step_name", "determinant", "level", "text")
    return [{key: inner.text() for key, inner in item.fields((), keys).nodes.items()} for item in node.items()]


def _verbose(wanted: Json, happened: Happened) -> Iterator[Miss]:
    left = iter(happened.verbose)
    for number, item in enumerate(wanted):
        fits = any(within(item, event) for event in left)
        yield from unless(fits, f"[{number}]", item, list(happened.verbose))


LLM_CALLS = Expectation(_read_llm_calls, _llm_calls)
TASK_CALLS = Expectation(_read_task_calls, _task_calls)
TOOL_CALLS = Expectation(_read_tool_calls, _tool_calls)
VERBOSE = Expectation(_read_verbose, _verbose)
