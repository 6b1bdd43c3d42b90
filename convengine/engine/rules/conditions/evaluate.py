"""Test a condition: compiled once to nested functions, so that nothing static is decided in each turn."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from convengine.engine.rules.conditions.json_path import parse_path
from convengine.engine.rules.conditions.nodes import (
    Children,
    Comparison,
    Condition,
    ConditionField,
    Descendants,
    Elements,
    Exists,
    Finds,
    Group,
    Length,
    Literal,
    Members,
    Operand,
    Path,
    RuleTarget,
    Slice,
    Step,
    Where,
)
from convengine.engine.rules.conditions.operators import Needs
from convengine.engine.rules.conditions.time_points import read_time_point
from convengine.engine.rules.conditions.values import (
    LISTS,
    MISSING,
    OBJECTS,
    BudgetExceeded,
    EvaluationScope,
    get_length,
    is_blank,
    shorten_value,
)
from convengine.engine.rules.verdict import Verdict, build_verdict
from convengine.engine.turn.local_time import CLOCK, describe_clock
from convengine.engine.turn.session import Session
from convengine.json_value import Json

#: Whether a condition holds at a node of the document.
Test = Callable[[Json, EvaluationScope], bool]
#: The value of an operand at a node.
Value = Callable[[Json, EvaluationScope], Json]
#: The values of a path at a node, in document order.
Select = Callable[[Json, EvaluationScope], list[Json]]

BUDGET_EXCEEDED = "EVALUATION_BUDGET_EXCEEDED"
#: Short names of facts. A field of a form with such a name is `context.<name>`.
ALIASES: Mapping[str, tuple[str, ...]] = {
    "message": ("userText",),
    "act": ("inputParams", "dialogue_act"),
    "acts": ("inputParams", "dialogue_act"),
    "params": ("inputParams",),
    "memory": ("contextSummary",),
}


def evaluate(test: Test, scope: EvaluationScope) -> Verdict:
    """The verdict of a compiled condition. Never raises, changes nothing, and does a limited amount of work."""
    try:
        matched = test(scope.document, scope)
    except (BudgetExceeded, RecursionError):
        return Verdict(False, BUDGET_EXCEEDED, tuple(scope.operands))
    return build_verdict(matched, tuple(scope.operands))


class JsonPath:
    """A compiled path, for its values. It never raises, and does a limited amount of work."""

    def __init__(self, text: str, path: Path) -> None:
        self.text = text
        self._select = _compile_path(path)

    def find(self, document: Json) -> list[Json]:
        """All values of the path, in document order; none if the evaluation costs too much."""
        try:
            return self._select(document, EvaluationScope(document))
        except (BudgetExceeded, RecursionError):
            return []

    def first(self, document: Json) -> tuple[bool, Json]:
        """(True, the first value), or (False, None) without a hit."""
        values = self.find(document)
        return (True, values[0]) if values else (False, None)


@lru_cache(maxsize=8192)
def compile_path(text: str) -> JsonPath:
    """Compile a path. Raises PathError with a reason and a position."""
    return JsonPath(text, parse_path(text))


# --- conditions -------------------------------------------------------------------------------------------------


def compile_condition(condition: Condition) -> Test:
    """A function that tests the condition and records its comparisons."""
    match condition:
        case Comparison():
            return _compile_comparison(condition)
        case Exists(path):
            return _compile_existence(path)
        case Finds():
            return _compile_whole_path(condition)
        case Group(combinator, negated, members):
            return _compile_group(all if combinator == "and" else any, negated, list(map(compile_condition, members)))


def _compile_group(combine: Callable[[Iterable[bool]], bool], negated: bool, tests: list[Test]) -> Test:
    """All or any of the tests, or the opposite. With `tests_all` of the scope, every member is tested."""

    def holds(node: Json, scope: EvaluationScope) -> bool:
        if scope.tests_all:
            return combine([test(node, scope) for test in tests]) is not negated
        return combine(test(node, scope) for test in tests) is not negated

    return holds


def _compile_comparison(comparison: Comparison) -> Test:
    """The test of a comparison. It records what was compared, as long as the scope has room."""
    left, right, operator = comparison.left, comparison.right, comparison.operator
    path, name, test = left.written if isinstance(left, RuleTarget) else str(left), operator.name, operator.test
    read_left, read_right = _compile_operand(left), _compile_operand(right)
    is_time, other = operator.needs is Needs.TIME, None if isinstance(right, Literal) else str(right)
    constant, shown = (right.value, right.recorded_value) if isinstance(right, Literal) else (None, None)

    def holds(node: Json, scope: EvaluationScope) -> bool:
        scope.spend(1)
        value, wanted = read_left(node, scope), constant if other is None else read_right(node, scope)
        result = test(value, wanted, scope)
        if len(scope.operands) < scope.most:
            literal = shown if other is None else _show(wanted)
            operand = {"path": path, "value": _show(value), "op": name, "literal": literal, "result": result}
            if other is not None:
                operand["literalPath"] = other
            if value is MISSING:
                operand["missing"] = True
            point = read_time_point(wanted, scope.now) if is_time else None
            if point is not None and point.isoformat() != wanted:
                operand["literalValue"] = point.isoformat()
            scope.operands.append(operand)
        return result

    return holds


def _show(value: Json) -> Json:
    return None if value is MISSING else shorten_value(value)


def _compile_existence(path: Path) -> Test:
    """True where the path has a value, even a blank one; records what was found."""
    text, select = str(path), _compile_path(path)

    def exists(node: Json, scope: EvaluationScope) -> bool:
        scope.spend(1)
        values = select(node, scope)
        scope.record_found(text, values, bool(values))
        return bool(values)

    return exists


def _compile_whole_path(condition: Finds) -> Test:
    """The test of a rule that is only a path: its single boolean value, else whether it has a value.

    Blank values count only where the rule says so, or behind a filter.
    """
    text, select = str(condition.path), _compile_path(condition.path)
    drops_blank = not condition.null_matches and not condition.path.filtered

    def finds(node: Json, scope: EvaluationScope) -> bool:
        values = select(node, scope)
        if drops_blank:
            values = [value for value in values if not is_blank(value)]
        matched = values[0] if len(values) == 1 and isinstance(values[0], bool) else bool(values)
        if not scope.operands:
            scope.record_found(text, values, matched)
        return matched

    return finds


# --- operands ---------------------------------------------------------------------------------------------------


def _compile_operand(operand: Operand) -> Value:
    """The value of one side of a comparison; of a path that may have several values, the list of them."""
    match operand:
        case Literal(value):
            return lambda node, scope: value
        case ConditionField(name):
            return _compile_field(name)
        case RuleTarget():
            return lambda node, scope: node if isinstance(node, str) else None
        case Length(path):
            measure = _compile_operand(path)
            return lambda node, scope: get_length(measure(node, scope))
        case Path() if not operand.definite:
            return _compile_path(operand)
        case Path():
            walk = _compile_walk(operand)
            return lambda node, scope: None if (value := walk(node, scope)) is MISSING else value


def _compile_field(name: str) -> Value:
    """The value of a field: None if a field of the form has no value yet, MISSING if nothing has this name."""
    first, *rest = name.split(".")
    if first == CLOCK:
        return lambda node, scope: _walk_names(describe_clock(scope.now), rest)
    if first == "memory" and rest:
        return lambda node, scope: _walk_names(scope.document, ["context", "memory", *rest])
    if first in ALIASES:
        return lambda node, scope: _walk_names(scope.document, [*ALIASES[first], *rest])
    in_form = rest if first in ("context", "schemaJson") and rest else [first, *rest]

    def read(node: Json, scope: EvaluationScope) -> Json:
        if name in scope.document:
            return scope.document[name]
        value = _walk_names(scope.document, [first, *rest])
        return None if value is MISSING and len(in_form) == 1 and _is_form_field(in_form[0], scope.session) else value

    return read


def _walk_names(value: Json, names: list[str]) -> Json:
    """The value behind these keys and indexes. Returns MISSING if there is none."""
    for name in names:
        if isinstance(value, Mapping) and name in value:
            value = value[name]
        elif isinstance(value, LISTS) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        else:
            return MISSING
    return value


def _is_form_field(name: str, session: Session | None) -> bool:
    schema = session.resolved_schema.json_schema if session and session.resolved_schema else None
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    return isinstance(properties, Mapping) and name in properties


# --- paths ------------------------------------------------------------------------------------------------------


def _compile_path(path: Path) -> Select:
    """A function for all values of a path."""
    if path.definite:
        walk = _compile_walk(path)
        return lambda node, scope: [] if (value := walk(node, scope)) is MISSING else [value]

    steps = [_compile_step(step, before) for before, step in zip((None, *path.steps), path.steps, strict=False)]
    from_root = path.from_root

    def select(node: Json, scope: EvaluationScope) -> list[Json]:
        nodes: list[Json] = [scope.document if from_root else node]
        for step in steps:
            nodes = [value for start in nodes for value in step(start, scope)]
        return nodes

    return select


def _compile_walk(path: Path) -> Value:
    """A function for the single value of a definite path, or MISSING: a walk along keys."""
    keys = [step.names[0] if isinstance(step, Members) else step.indexes[0] for step in path.steps]  # type: ignore[union-attr]
    from_root = path.from_root

    def walk(node: Json, scope: EvaluationScope) -> Json:
        value = scope.document if from_root else node
        for key in keys:
            value = _get_child(value, key)
            if value is MISSING:
                break
        return value

    return walk


def _get_child(value: Json, key: str | int) -> Json:
    """The member of an object, or the element of a list. Returns MISSING if there is none."""
    if isinstance(key, str):
        return value.get(key, MISSING) if isinstance(value, OBJECTS) else MISSING
    if isinstance(value, LISTS) and -len(value) <= key < len(value):
        return value[key]
    return MISSING


def _compile_step(step: Step, before: Step | None) -> Callable[[Json, EvaluationScope], Iterable[Json]]:
    """The values that one step leads to. `before` is the step before it; a filter after `..` tests other nodes."""
    match step:
        case Members(names):
            return _compile_pick(names)
        case Elements(indexes):
            return _compile_pick(indexes)
        case Slice(start, stop, size):
            part = slice(start, stop, size)
            return lambda node, scope: _count_values(node[part] if isinstance(node, LISTS) else (), scope)
        case Children():
            return lambda node, scope: _count_values(_list_children(node), scope)
        case Descendants():
            return _list_descendants
        case Where(condition):
            return _compile_filter(compile_condition(condition), each=not isinstance(before, Descendants))


def _compile_pick(keys: Iterable[str | int]) -> Callable[[Json, EvaluationScope], Iterable[Json]]:
    """The values behind some keys or indexes, in their order; none for those that are missing."""

    def pick(node: Json, scope: EvaluationScope) -> Iterator[Json]:
        for key in keys:
            scope.spend(1)
            if (value := _get_child(node, key)) is not MISSING:
                yield value

    return pick


def _list_children(node: Json) -> Iterable[Json]:
    if isinstance(node, OBJECTS):
        return list(node.values())
    return node if isinstance(node, LISTS) else ()


def _count_values(values: Any, scope: EvaluationScope) -> Iterable[Json]:
    scope.spend(len(values))
    return list(values)


def _list_descendants(node: Json, scope: EvaluationScope) -> Iterator[Json]:
    """The node and everything below it, in document order."""
    waiting = [node]
    while waiting:
        value = waiting.pop()
        scope.visit()
        yield value
        waiting.extend(reversed(list(_list_children(value))))


def _compile_filter(holds: Test, *, each: bool) -> Callable[[Json, EvaluationScope], Iterable[Json]]:
    """Tests an object itself, and each element of a list; after `..` every node that is not a list itself."""

    def choose(node: Json, scope: EvaluationScope) -> Iterator[Json]:
        if isinstance(node, LISTS):
            candidates: Iterable[Json] = node if each else ()
        else:
            candidates = (node,) if isinstance(node, OBJECTS) or not each else ()
        for candidate in candidates:
            scope.spend(1)
            if holds(candidate, scope):
                yield candidate

    return choose
