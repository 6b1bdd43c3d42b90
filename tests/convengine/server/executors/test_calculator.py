import time
from typing import Any

import pytest

from convengine.engine.tools.fault import ToolFault
from convengine.server.executors.calculator import evaluate
from convengine.server.executors.port import BuiltInTools
from convengine.server.extensions.registry import Registry
from tests.builders import make_session, make_snapshot

NAMES = {"price": "19.99", "quantity": 3, "word": " Ab ", "order": {"total": 250}, "lines": [1, "2", 3.5], "none": None}


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("1 + 2 * 3", 7),
        ("price * quantity", 59.97),
        ("0.1 + 0.2", 0.3),
        ("round(price * 1.19, 2)", 23.79),
        ("round(2.5)", 3),
        ("-7 // 2", -3),
        ("7 % 4", 3),
        ("2 ** 10", 1024),
        ("sqrt(2) > 1.4 and not quantity == 4", True),
        ("'large' if order.total > 100 else 'small'", "large"),
        ("order['total'] / 4", 62.5),
        ("sum(lines) + max(1, quantity) + min(lines) + avg(lines) + count(lines)", 15.666666666666666),
        ("lines[1]", 2),
        ("floor(2.7) + ceil(2.1) + abs(-1)", 6),
        ("upper(trim(word)) + lower('X')", "ABx"),
        ("concat('Total: ', format(1234.5))", "Total: 1,234.50"),
        ("replace('a-b', '-', '+')", "a+b"),
        ("number('1,250.5') * 2", 2501),
        ("text(order.total) + '!'", "250!"),
        ("1 < quantity <= 3", True),
        ("'a' in ['a', 'b']", True),
        ("quantity not in [1, 2]", True),
        ("none == None", True),
        ("[1, 2.5, 'a']", [1, 2.5, "a"]),
    ],
)
def test_an_expression_has_the_value_that_people_expect(expression: str, value: Any) -> None:
    assert evaluate(expression, NAMES) == value


@pytest.mark.parametrize(
    "expression",
    [
        "__import__('os').system('id')",
        "().__class__.__bases__",
        "word.__class__",
        "'a'.upper()",
        "order.__class__",
        "open('/etc/passwd')",
        "eval('1')",
        "lambda: 1",
        "[x for x in lines]",
        "(x := 1)",
        "{1: 2}",
        "{1, 2}",
        "f'{price}'",
        "b'x'",
        "1j",
        "...",
        "lines[0:2]",
        "*lines",
        "round(number=1)",
        "expression",
        "missing + 1",
        "'a' * 1000000000",
        "9 ** 9 ** 9",
        "10 ** 101",
        "1e99 * 1e99",
        "1 / 0",
        "1 % 0",
        "sqrt(-1)",
        "'a' < 1",
        "1 +",
        "1; 2",
        "word << 2",
        "~1",
        "format(1, 1000000000)",
        "round(1, 1000000000)",
        "concat(" + ", ".join(["word"] * 200) + ")" * 2,
        "(" * 300 + "1" + ")" * 300,
        "1" * 1001,
        "number('nope')",
        "lines[99]",
        "sum([])",
        "",
    ],
)
def test_what_is_no_expression_of_ours_is_refused_at_once(expression: str) -> None:
    started = time.thread_time()

    with pytest.raises(ToolFault, match="EXPRESSION_INVALID"):
        evaluate(expression, NAMES)

    assert time.thread_time() - started < 0.2


def test_texts_do_not_grow_without_end() -> None:
    with pytest.raises(ToolFault, match="EXPRESSION_INVALID"):
        evaluate("replace(replace(t, 'a', t), 'a', t)", {"t": "a" * 9000})


def test_a_tool_works_out_what_it_is_given() -> None:
    tools = BuiltInTools(make_snapshot(), Registry())

    done = tools.run("calc", "CALC", {"expression": "a * b", "a": "2", "b": 4}, make_session())
    nothing = tools.run("calc", "CALC", {}, make_session())

    assert done.result == {"value": 8}
    assert (nothing.error_type, nothing.error_message) == (
        "INVALID_ARGS",
        "expression must be a text such as price * quantity.",
    )
