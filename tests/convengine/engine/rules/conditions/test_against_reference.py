"""Random paths on random documents: the compiled functions say what a plain reading of the dialect says."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from convengine.engine.rules.conditions.evaluate import compile_path
from tests.convengine.engine.rules.conditions.judge import judge_path
from tests.examples import count_examples

NAMES = st.sampled_from(["a", "b", "c"])
SCALARS = st.sampled_from([None, True, False, 0, 1, 2.5, -1, "", "1", "a", "b", "2.5", "true"])
DOCUMENTS = st.dictionaries(
    NAMES,
    st.recursive(
        SCALARS,
        lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=3)),
        max_leaves=8,
    ),
    max_size=3,
)

# A path is (start, steps), a step (kind, argument); a condition is a tuple that begins with its kind. Beside each
# strategy stands the text of what it makes, and below a reading of it that knows nothing of the product's code.
SIMPLE_STEPS = st.one_of(
    st.tuples(st.just("member"), NAMES),
    st.tuples(st.just("element"), st.integers(-2, 2)),
    st.tuples(st.just("children"), st.none()),
    st.tuples(st.just("deep"), NAMES),
    st.tuples(st.just("slice"), st.tuples(st.integers(-2, 2), st.integers(-2, 3))),
)
QUERIES = st.tuples(st.sampled_from("@$"), st.lists(SIMPLE_STEPS, max_size=3))
OPERANDS = st.one_of(st.tuples(st.just("literal"), SCALARS), st.tuples(st.just("path"), QUERIES))
COMPARISONS = st.tuples(
    st.just("compare"),
    OPERANDS,
    st.sampled_from(["==", "!=", "<", "<=", ">", ">=", "in", "nin", "contains"]),
    st.one_of(OPERANDS, st.tuples(st.just("literal"), st.lists(SCALARS, max_size=3))),
)
CONDITIONS = st.recursive(
    st.one_of(COMPARISONS, st.tuples(st.just("exists"), QUERIES)),
    lambda inner: st.one_of(
        st.tuples(st.just("not"), inner),
        st.tuples(st.just("and"), inner, inner),
        st.tuples(st.just("or"), inner, inner),
    ),
    max_leaves=4,
)
STEPS = st.one_of(SIMPLE_STEPS, st.tuples(st.just("where"), CONDITIONS))
PATHS = st.tuples(st.just("$"), st.lists(STEPS, max_size=4))


def text_of_path(path: Any) -> str:
    start, steps = path
    return start + "".join(text_of_step(*step) for step in steps)


def text_of_step(kind: str, argument: Any) -> str:
    if kind == "where":
        return f"[?({text_of_condition(argument)})]"
    if kind == "slice":
        return "[{}:{}]".format(*argument)
    return {"member": f".{argument}", "element": f"[{argument}]", "children": "[*]", "deep": f"..{argument}"}[kind]


def text_of_operand(operand: Any) -> str:
    kind, value = operand
    return json.dumps(value) if kind == "literal" else text_of_path(value)


def text_of_condition(condition: Any) -> str:
    kind, *rest = condition
    if kind == "compare":
        return f"{text_of_operand(rest[0])} {rest[1]} {text_of_operand(rest[2])}"
    if kind == "exists":
        return text_of_path(rest[0])
    if kind == "not":
        return f"!({text_of_condition(rest[0])})"
    sign = {"and": "&&", "or": "||"}[kind]
    return f"({text_of_condition(rest[0])}) {sign} ({text_of_condition(rest[1])})"


def read_path(path: Any, node: Any, root: Any) -> list[Any]:
    start, steps = path
    values = [root if start == "$" else node]
    for kind, argument in steps:
        values = [result for value in values for result in read_step(kind, argument, value, root)]
    return values


def read_step(kind: str, argument: Any, value: Any, root: Any) -> list[Any]:
    if kind == "member":
        return [value[argument]] if isinstance(value, dict) and argument in value else []
    if kind == "element":
        in_range = isinstance(value, list) and -len(value) <= argument < len(value)
        return [value[argument]] if in_range else []
    if kind == "slice":
        return value[argument[0] : argument[1]] if isinstance(value, list) else []
    if kind == "children":
        return list(value.values()) if isinstance(value, dict) else list(value) if isinstance(value, list) else []
    if kind == "deep":
        below = [
            result
            for child in read_step("children", None, value, root)
            for result in read_step(kind, argument, child, root)
        ]
        return read_step("member", argument, value, root) + below
    candidates = value if isinstance(value, list) else [value] if isinstance(value, dict) else []
    return [candidate for candidate in candidates if read_condition(argument, candidate, root)]


def read_operand(operand: Any, node: Any, root: Any) -> Any:
    kind, value = operand
    if kind == "literal":
        return value
    matches = read_path(value, node, root)
    if any(step in ("children", "deep", "slice") for step, _ in value[1]):
        return matches
    return matches[0] if matches else None


def read_condition(condition: Any, node: Any, root: Any) -> bool:
    kind, *rest = condition
    if kind == "exists":
        return bool(read_path(rest[0], node, root))
    if kind == "not":
        return not read_condition(rest[0], node, root)
    if kind == "and":
        return read_condition(rest[0], node, root) and read_condition(rest[1], node, root)
    if kind == "or":
        return read_condition(rest[0], node, root) or read_condition(rest[1], node, root)
    return read_comparison(read_operand(rest[0], node, root), rest[1], read_operand(rest[2], node, root))


def same(left: Any, right: Any) -> bool:
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(same(item, other) for item, other in zip(left, right, strict=True))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if type(left) in (int, float) and type(right) is str:
        return right in ("0", "1", "2.5", "-1") and float(right) == left
    if type(right) in (int, float) and type(left) is str:
        return same(right, left)
    if type(left) in (int, float) and type(right) in (int, float):
        return bool(left == right)
    return type(left) is type(right) and bool(left == right)


def read_comparison(left: Any, op: str, right: Any) -> bool:
    if op in ("==", "!="):
        return same(left, right) is (op == "==")
    if op in ("in", "nin"):
        return (isinstance(right, list) and any(same(left, member) for member in right)) is (op == "in")
    if op == "contains":
        if isinstance(left, str):
            return isinstance(right, str) and right in left
        return isinstance(left, list) and any(same(right, member) for member in left)
    if not (type(left) is str and type(right) is str):
        left, right = (float(side) if side in ("1", "2.5") else side for side in (left, right))
        if not {type(left), type(right)} <= {int, float}:
            return False
    return {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[op]


@settings(max_examples=count_examples(600))
@given(PATHS, DOCUMENTS)
def test_the_compiled_path_finds_what_the_reference_finds(path: Any, document: Any) -> None:
    assert compile_path(text_of_path(path)).find(document) == read_path(path, None, document)


@settings(max_examples=count_examples(600))
@given(CONDITIONS, DOCUMENTS)
def test_a_condition_holds_where_the_reference_says_so(condition: Any, document: Any) -> None:
    matches = compile_path(f"$[?({text_of_condition(condition)})]").find(document)
    assert matches == ([document] if read_condition(condition, document, document) else [])


@settings(max_examples=count_examples(200))
@given(PATHS, DOCUMENTS)
def test_the_verdict_follows_from_what_was_found(path: Any, document: Any) -> None:
    matches = read_path(path, None, document)
    expected = matches[0] if len(matches) == 1 and isinstance(matches[0], bool) else bool(matches)
    assert judge_path(text_of_path(path), document).matched is expected
