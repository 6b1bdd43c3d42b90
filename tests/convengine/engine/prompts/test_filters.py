from typing import Any

import pytest

from convengine.engine.prompts.filters import FILTERS, INTERNAL, TESTS
from convengine.engine.prompts.render import render_lenient


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("-5|abs", "5"),
        ("none|default('x') ~ nope|d('y')", "y"),
        ("{'b': 1, 'a': 2}|dictsort", '[["a",2],["b",1]]'),
        ("[1, 2]|first ~ [1, 2]|last", "12"),
        ("'2.5'|float + '3'|int", "5.5"),
        ("{'a': 1}|items|list", '[["a",1]]'),
        ("['a', 'b']|map('upper')|list", '["A","B"]'),
        ("[1, 2, 3]|reject('odd')|list", "[2]"),
        ("[{'a': 1}, {'a': none}]|rejectattr('a', 'none')|list", '[{"a":1}]'),
        ("[1, 2]|reverse|list", "[2,1]"),
        ("'ab'|reverse", "ba"),
        ("[2, 1, 2]|unique|list", "[2,1]"),
        ("[2, 1]|min ~ [2, 1]|max", "12"),
        ("[{'a': 2}, {'a': 1}]|sort(attribute='a')", '[{"a":1},{"a":2}]'),
        ("'a long text indeed'|truncate(6, true, '…')", "a lon…"),
        ("' x '|trim ~ 'ab cd'|title ~ 'ab'|capitalize ~ 'AB'|lower", "xAb CdAbab"),
        ("'one two'|wordcount", "2"),
        ("[1, 'x', 2.5, none]|sum", "3.5"),
        ("'abc'|list", '["a","b","c"]'),
        ("5|string ~ [1]|string", "5[1]"),
        ("['a']|count", "1"),
        ("'a-b'|replace('-', '+', 1)", "a+b"),
    ],
)
def test_a_filter_does_what_its_name_says(expression: str, text: str) -> None:
    rendered = render_lenient("{{ " + expression + " }}", {})

    assert rendered.error is None
    assert rendered.text == text


@pytest.mark.parametrize(
    "name",
    [
        "attr", "batch", "center", "e", "escape", "filesizeformat", "forceescape", "format", "groupby", "indent",
        "pprint", "random", "safe", "slice", "striptags", "urlize", "wordwrap", "xmlattr",
    ],
)  # fmt: skip
def test_filters_that_reach_out_or_blow_up_are_not_there(name: str) -> None:
    assert name not in FILTERS


def test_the_compilers_own_filters_cannot_be_written_down() -> None:
    assert all(name.startswith(" ") for name in INTERNAL)


@pytest.mark.parametrize("test", ["callable", "filter", "test", "sameas", "escaped"])
def test_tests_that_tell_of_the_inside_are_not_there(test: str) -> None:
    assert test not in TESTS


@pytest.mark.parametrize(
    ("expression", "holds"),
    [
        ("'' is blank", True),
        ("5 is odd", True),
        ("6 is divisibleby 3", True),
        ("1 is in [1]", True),
        ("x is undefined", True),
        ("{} is mapping", True),
        ("'a' is number", False),
    ],
)
def test_a_test_says_what_its_name_asks(expression: str, holds: bool) -> None:
    assert render_lenient("{{ " + expression + " }}", {}).text == str(holds).lower()


def test_an_unknown_method_of_a_value_fails_the_template() -> None:
    variables: dict[str, Any] = {"n": 5}

    assert isinstance(render_lenient("{{ n.upper() }}", variables).error, TypeError)
