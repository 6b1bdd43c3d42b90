"""Every key of `expect`, and how a turn fails it."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from convengine.engine.text.difference import contains_json, equal_json
from convengine.files.json_text import read_json_or
from convengine.json_value import Json
from convengine.play.matchers import OPERATORS, holds, select
from convengine.play.seen_turn import SeenEvent, SeenTurn

_FRAME = ("STEP_ENTER", "STEP_EXIT")
_TEXT: Json = {"type": "string"}
_TEXTS: Json = {"$ref": "#/$defs/texts"}
_MATCHER: Json = {"$ref": "#/$defs/matcher"}
_MATCHERS: Json = {"$ref": "#/$defs/matchers"}
_PATHS: Json = {"$ref": "#/$defs/path_matchers"}


def _list(items: Json) -> Json:
    return {"type": "array", "items": items}


def _map(**properties: Json) -> Json:
    return {"type": "object", "additionalProperties": False, "properties": properties}


class Miss(NamedTuple):
    #: Its path in the turn, such as `expect.context['$.a']`.
    where: str
    expected: Json
    actual: Json


#: Where a turn fails whose call nothing answered.
UNSCRIPTED_CALL = "unscripted call"


@dataclass(frozen=True)
class Expectation:
    """A key of `expect`: everything about it."""

    #: What pages call it.
    label: str
    #: What a file may say: a JSON Schema, with the definitions of scenario.schema.json.
    schema: Json
    #: Where a turn fails what a file says.
    find_misses: Callable[[Json, SeenTurn], Iterable[Miss]]


def find_misses(expect: Mapping[str, Json], turn: SeenTurn) -> Iterator[Miss]:
    """The calls that nothing answered, and everything that does not hold, in the order of the vocabulary."""
    for call in turn.unanswered:
        yield Miss(UNSCRIPTED_CALL, "an entry that answers it", call)
    # The defaults of a turn; an expected error changes them.
    wanted = {"success": "error" not in expect, "http_status": 200, **expect}
    for key, expectation in EXPECTATIONS.items():
        if key in wanted:
            for miss in expectation.find_misses(wanted[key], turn):
                yield Miss(f"expect.{key}{miss.where}", miss.expected, miss.actual)


def _report_unless(is_met: bool, where: str, expected: Json, actual: Json) -> Iterator[Miss]:
    if not is_met:
        yield Miss(where, expected, actual)


def _expect_value(label: str, get: Callable[[SeenTurn], Json], schema: Json = _MATCHER) -> Expectation:
    def compare(matcher: Json, turn: SeenTurn) -> Iterator[Miss]:
        actual = get(turn)
        yield from _report_unless(holds(matcher, actual), "", matcher, actual)

    return Expectation(label, schema, compare)


def _expect_by_name(label: str, get: Callable[[SeenTurn], Mapping[str, Json] | None]) -> Expectation:
    """The expectation of matchers on the values of a flat map, by name."""

    def compare(wanted: Mapping[str, Json], turn: SeenTurn) -> Iterator[Miss]:
        values = get(turn) or {}
        for name, matcher in wanted.items():
            actual = values.get(name)
            yield from _report_unless(holds(matcher, actual), f".{name}", matcher, actual)

    return Expectation(label, _MATCHERS, compare)


def _compare_by_path(wanted: Mapping[str, Json], document: Json, under: str = "") -> Iterator[Miss]:
    """The misses of matchers on the parts of a document, by path; `under` is written before each path."""
    for path, matcher in wanted.items():
        actual = select(path, document)
        yield from _report_unless(holds(matcher, actual), f"{under}['{path}']", matcher, actual)


def _check_response(wanted: Json, turn: SeenTurn) -> Iterator[Miss]:
    kind, value = turn.payload.get("type"), turn.payload.get("value")
    yield from _report_unless(wanted.get("type", kind) == kind, ".type", wanted.get("type"), kind)
    for word, operand in wanted.items():
        if word in OPERATORS:
            yield from _report_unless(holds({word: operand}, value), f".{word}", operand, value)
    document = read_json_or(value, None) if isinstance(value, str) else value
    yield from _compare_by_path(wanted.get("json", {}), document, ".json")


def _check_error(wanted: Json, turn: SeenTurn) -> Iterator[Miss]:
    kind = turn.payload.get("type")
    yield from _report_unless(kind == "ERROR", ".payload.type", "ERROR", kind)
    for key, name in (("code", "errorCode"), ("recoverable", "recoverable")):
        actual = turn.body.get(name)
        yield from _report_unless(holds(wanted[key], actual), f".{key}", wanted[key], actual) if key in wanted else ()


def _check_model_calls(wanted: Json, turn: SeenTurn) -> Iterator[Miss]:
    counted = Counter(turn.model_calls)
    if isinstance(wanted, int):
        yield from _report_unless(wanted == counted.total(), "", wanted, dict(counted) or 0)
        return
    for purpose, number in wanted.items():
        yield from _report_unless(counted[purpose] == number, f".{purpose}", number, counted[purpose])


def _check_task_calls(wanted: Json, turn: SeenTurn) -> Iterator[Miss]:
    actual = [{"bean": bean, "method": method} for bean, method in turn.task_calls]
    yield from _report_unless(equal_json(wanted, actual), "", wanted, actual)


def _check_tool_calls(wanted: Json, turn: SeenTurn) -> Iterator[Miss]:
    actual = turn.tool_calls
    yield from _report_unless(
        len(wanted) == len(actual) and all(map(contains_json, wanted, actual)), "", wanted, actual
    )


def _check_verbose(wanted: Json, turn: SeenTurn) -> Iterator[Miss]:
    remaining = iter(turn.verbose)
    for number, item in enumerate(wanted):
        fits = any(contains_json(item, event) for event in remaining)
        yield from _report_unless(fits, f"[{number}]", item, list(turn.verbose))


def _check_stages_in_order(wanted: Json, turn: SeenTurn) -> Iterator[Miss]:
    miss = find_first_miss(wanted, turn.events)
    if miss:
        yield Miss(*miss)


def _check_stages_absent(wanted: Json, turn: SeenTurn) -> Iterator[Miss]:
    for name in wanted:
        stages = [event.stage for event in turn.events if event.has_name(name)]
        yield from _report_unless(not stages, "", f"no {name}", stages)


def _check_any_of(wanted: Json, turn: SeenTurn) -> Iterator[Miss]:
    for number, names in enumerate(wanted):
        fits = any(event.has_name(name) for event in turn.events for name in names)
        yield from _report_unless(fits, f"[{number}]", names, list_stage_names(turn.events))


def _check_counts(wanted: Json, turn: SeenTurn) -> Iterator[Miss]:
    for name, matcher in wanted.items():
        actual = sum(event.has_name(name) for event in turn.events)
        yield from _report_unless(holds(matcher, actual), f".{name}", matcher, actual)


def _check_meta_absent(wanted: bool, turn: SeenTurn) -> Iterator[Miss]:
    stages = [event.stage for event in turn.events if "_meta" in event.payload]
    if wanted:
        yield from _report_unless(not stages, "", "no _meta", stages)


def _check_steps_in_order(wanted: Json, turn: SeenTurn) -> Iterator[Miss]:
    remaining = iter(turn.steps)
    for number, name in enumerate(wanted):
        yield from _report_unless(name in remaining, f"[{number}]", name, list(turn.steps))


def _check_steps_absent(wanted: Json, turn: SeenTurn) -> Iterator[Miss]:
    for name in wanted:
        yield from _report_unless(name not in turn.steps, "", f"no {name}", list(turn.steps))


_STAGE = {
    "type": ["string", "object"],
    "required": ["stage"],
    "additionalProperties": False,
    "properties": {"stage": {"type": "string"}, "payload": _PATHS},
}
_MODEL_CALLS = {
    "type": ["integer", "object"],
    "minimum": 0,
    "propertyNames": {"$ref": "#/$defs/purpose"},
    "additionalProperties": {"$ref": "#/$defs/count"},
}
#: All keys, in the order of checking: the answer first, then its causes. A new check is one more entry.
EXPECTATIONS: Mapping[str, Expectation] = {
    "http_status": _expect_value("HTTP status", lambda turn: turn.status),
    "success": _expect_value("Success", lambda turn: turn.body.get("success"), {"type": "boolean"}),
    "error": Expectation("Error", _map(code=_MATCHER, recoverable=_MATCHER), _check_error),
    "intent": _expect_value("Intent", lambda turn: turn.intent),
    "state": _expect_value("State", lambda turn: turn.state),
    "response": Expectation(
        "Answer",
        _map(
            type={"enum": ["ERROR", "JSON", "TEXT"]},
            json=_PATHS,
            **{name: {"$ref": f"#/$defs/operators/properties/{name}"} for name in OPERATORS},
        ),
        _check_response,
    ),
    "decision": _expect_value("Decision about the session", lambda turn: turn.body.get("decision")),
    "reason": _expect_value("Reason of the decision", lambda turn: turn.body.get("reason")),
    "lifecycle": _expect_value("Lifecycle", lambda turn: (turn.conversation or {}).get("lifecycle")),
    "session": Expectation("Session", _PATHS, lambda wanted, turn: _compare_by_path(wanted, turn.body.get("session"))),
    "context": Expectation("Field", _PATHS, lambda wanted, turn: _compare_by_path(wanted, turn.body.get("context"))),
    "input_params": _expect_by_name("Input param", lambda turn: turn.input_params),
    "persisted": _expect_by_name("Stored column", lambda turn: turn.conversation),
    "llm_calls": Expectation("Model calls", _MODEL_CALLS, _check_model_calls),
    "task_calls": Expectation(
        "Actions", _list({**_map(bean=_TEXT, method=_TEXT), "required": ["bean", "method"]}), _check_task_calls
    ),
    "tool_calls": Expectation("Tool calls", _list(_map(tool_code=True, tool_group=True, args=True)), _check_tool_calls),
    "audit_stages_in_order": Expectation("Stages in order", _list(_STAGE), _check_stages_in_order),
    "audit_stages_absent": Expectation("Absent stages", _TEXTS, _check_stages_absent),
    "audit_any_of": Expectation("One of these stages", _list(_TEXTS), _check_any_of),
    "audit_counts": Expectation("Number of events", _MATCHERS, _check_counts),
    "audit_meta_absent": Expectation("No metadata", {"type": "boolean"}, _check_meta_absent),
    "trace_steps_in_order": Expectation("Steps in order", _TEXTS, _check_steps_in_order),
    "trace_steps_absent": Expectation("Absent steps", _TEXTS, _check_steps_absent),
    "verbose": Expectation(
        "Progress texts", _list(_map(step_name=_TEXT, determinant=_TEXT, level=_TEXT, text=_TEXT)), _check_verbose
    ),
}


def find_first_miss(items: Sequence[Json], events: Sequence[SeenEvent]) -> tuple[str, Json, Json] | None:
    """The first item that the events do not match: path, expected, got. Returns None when all match in order.

    An item is a stage or `{stage, payload}`. The earliest matching event is taken for each, so later items lose
    nothing.
    """
    start = 0
    for number, item in enumerate(items):
        stage, payload = (item, {}) if isinstance(item, str) else (item["stage"], item.get("payload", {}))
        named = [index for index in range(start, len(events)) if events[index].has_name(stage)]
        fitting = next((index for index in named if _find_first_mismatch(payload, events[index]) is None), None)
        if fitting is not None:
            start = fitting + 1
        elif not named:
            return f"[{number}]", stage, list_stage_names(events[start:])
        else:
            # Of the possible events, the first is the most informative.
            path, matcher, actual = _find_first_mismatch(payload, events[named[0]]) or ("", None, None)
            return f"[{number}] {stage}['{path}']", matcher, actual
    return None


def _find_first_mismatch(payload: Mapping[str, Json], event: SeenEvent) -> tuple[str, Json, Json] | None:
    """Path, matcher and value of the first mismatch in an event's payload. Returns None if all match."""
    for path, matcher in payload.items():
        actual = select(path, event.payload)
        if not holds(matcher, actual):
            return path, matcher, actual
    return None


def list_stage_names(events: Sequence[SeenEvent]) -> list[str]:
    """The stages of events, without starts and ends of steps."""
    return [event.stage for event in events if event.stage not in _FRAME]
