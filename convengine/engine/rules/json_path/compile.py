"""Compile a parsed path to nested functions, so that nothing static is decided in each turn (R7)."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from convengine.engine.rules.json_path.nodes import (
    Children,
    Compare,
    Condition,
    Descendants,
    Either,
    Elements,
    Every,
    Exists,
    Length,
    Literal,
    Matches,
    Members,
    Not,
    Operand,
    Path,
    Slice,
    Step,
    Where,
    format_path,
)
from convengine.engine.rules.json_path.values import LISTS, OBJECTS, OPERATORS, Meter, get_length
from convengine.engine.rules.patterns import MAX_INPUT

Json = Any
#: The values of a path from (node, document), in document order.
Select = Callable[[Json, Json, Meter], list[Json]]
#: The value of an operand at (node, document).
Value = Callable[[Json, Json, Meter], Json]
#: Whether a condition holds at (node, document).
Test = Callable[[Json, Json, Meter], bool]


class _Missing:
    def __repr__(self) -> str:
        return "MISSING"


MISSING: Any = _Missing()


# --- paths ------------------------------------------------------------------------------------------------------


def compile_selector(path: Path) -> Select:
    """A function for all values of a path."""
    if path.definite:
        walk = compile_walker(path)

        def select_one(node: Json, root: Json, meter: Meter) -> list[Json]:
            value = walk(node, root, meter)
            return [] if value is MISSING else [value]

        return select_one

    steps = [_step(step, previous) for previous, step in zip((None, *path.steps), path.steps, strict=False)]
    from_root = path.from_root

    def select(node: Json, root: Json, meter: Meter) -> list[Json]:
        nodes: list[Json] = [root if from_root else node]
        for step in steps:
            nodes = [value for start in nodes for value in step(start, root, meter)]
        return nodes

    return select


def compile_walker(path: Path) -> Value:
    """A function for the single value of a definite path, or MISSING: a walk along keys."""
    keys = [step.names[0] if isinstance(step, Members) else step.indexes[0] for step in path.steps]  # type: ignore[union-attr]
    from_root = path.from_root

    def walk(node: Json, root: Json, meter: Meter) -> Json:
        value = root if from_root else node
        for key in keys:
            value = _child(value, key)
            if value is MISSING:
                break
        return value

    return walk


def _child(value: Json, key: str | int) -> Json:
    if isinstance(key, str):
        return value.get(key, MISSING) if isinstance(value, OBJECTS) else MISSING
    if isinstance(value, LISTS) and -len(value) <= key < len(value):
        return value[key]
    return MISSING


def _step(step: Step, previous: Step | None) -> Callable[[Json, Json, Meter], Iterable[Json]]:
    match step:
        case Members(names):
            return _picker(names)
        case Elements(indexes):
            return _picker(indexes)
        case Slice(start, stop, size):
            part = slice(start, stop, size)
            return lambda node, root, meter: _count_values(node[part] if isinstance(node, LISTS) else (), meter)
        case Children():
            return lambda node, root, meter: _count_values(_children(node), meter)
        case Descendants():
            return _descendants
        case Where(condition):
            return _filter(compile_test(condition), each=not isinstance(previous, Descendants))


def _picker(keys: Iterable[str | int]) -> Callable[[Json, Json, Meter], Iterable[Json]]:
    def pick(node: Json, root: Json, meter: Meter) -> Iterator[Json]:
        for key in keys:
            meter.spend(1)
            if (value := _child(node, key)) is not MISSING:
                yield value

    return pick


def _children(node: Json) -> Iterable[Json]:
    if isinstance(node, OBJECTS):
        return list(node.values())
    return node if isinstance(node, LISTS) else ()


def _count_values(values: Any, meter: Meter) -> Iterable[Json]:
    meter.spend(len(values))
    return list(values)


def _descendants(node: Json, root: Json, meter: Meter) -> Iterator[Json]:
    """The node and everything below it, in document order."""
    waiting = [node]
    while waiting:
        value = waiting.pop()
        meter.visit()
        yield value
        waiting.extend(reversed(list(_children(value))))


def _filter(holds: Test, *, each: bool) -> Callable[[Json, Json, Meter], Iterable[Json]]:
    """Tests an object itself, and each element of a list; after `..` every node that is not a list itself."""

    def choose(node: Json, root: Json, meter: Meter) -> Iterator[Json]:
        if isinstance(node, LISTS):
            candidates: Iterable[Json] = node if each else ()
        else:
            candidates = (node,) if isinstance(node, OBJECTS) or not each else ()
        for candidate in candidates:
            meter.spend(1)
            if holds(candidate, root, meter):
                yield candidate

    return choose


# --- conditions -------------------------------------------------------------------------------------------------


def compile_test(condition: Condition) -> Test:
    match condition:
        case Compare():
            return _comparison(condition)
        case Matches():
            return _matching(condition)
        case Exists(path):
            return _existence(path)
        case Not(term):
            holds = compile_test(term)
            return lambda node, root, meter: not holds(node, root, meter)
        case Every(terms):
            return _every([compile_test(term) for term in terms])
        case Either(terms):
            return _either([compile_test(term) for term in terms])


def _every(tests: list[Test]) -> Test:
    return lambda node, root, meter: all(holds(node, root, meter) for holds in tests)


def _either(tests: list[Test]) -> Test:
    return lambda node, root, meter: any(holds(node, root, meter) for holds in tests)


def _existence(path: Path) -> Test:
    text = format_path(path)
    select = compile_selector(path)

    def exists(node: Json, root: Json, meter: Meter) -> bool:
        meter.spend(1)
        nodes = select(node, root, meter)
        return meter.record(text, nodes[0] if nodes else None, "exists", None, bool(nodes))

    return exists


def _comparison(condition: Compare) -> Test:
    left, right = _value(condition.left), _value(condition.right)
    text = _text(condition.left)
    other = None if isinstance(condition.right, Literal) else _text(condition.right)
    op, decide = condition.op, OPERATORS[condition.op]

    def compare(node: Json, root: Json, meter: Meter) -> bool:
        meter.spend(1)
        left_value, right_value = left(node, root, meter), right(node, root, meter)
        return meter.record(text, left_value, op, right_value, decide(left_value, right_value, meter.spend), other)

    return compare


def _matching(condition: Matches) -> Test:
    operand, text = _value(condition.operand), _text(condition.operand)
    pattern, source = condition.pattern, condition.written

    def matches(node: Json, root: Json, meter: Meter) -> bool:
        value = operand(node, root, meter)
        meter.spend(1 + (min(len(value), MAX_INPUT) // 100 if isinstance(value, str) else 0))
        return meter.record(text, value, "=~", source, pattern.fits(_as_text(value)))

    return matches


def _as_text(value: Json) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, (str, int, float)) else None


def _value(operand: Operand) -> Value:
    match operand:
        case Literal(value):
            return lambda node, root, meter: value
        case Length(path):
            measured = _value(path)
            return lambda node, root, meter: get_length(measured(node, root, meter))
        case Path():
            return _compile_found_value(operand)


def _compile_found_value(path: Path) -> Value:
    """The value of a definite path, null without one; of any other path the list of its values."""
    if not path.definite:
        return compile_selector(path)
    walk = compile_walker(path)

    def value(node: Json, root: Json, meter: Meter) -> Json:
        result = walk(node, root, meter)
        return None if result is MISSING else result

    return value


def _text(operand: Operand) -> str:
    match operand:
        case Literal(value):
            return repr(value) if isinstance(value, str) else str(value)
        case Length(path):
            return format_path(path) + ".length()"
        case Path():
            return format_path(operand)
