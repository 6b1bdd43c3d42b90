from typing import Any

import pytest

from convengine.play import schema
from convengine.play.matchers import OPERATORS, MatcherPathError, holds, select, split_path

HOLDS = [
    (5, 5.0),
    ("a", "a"),
    (None, None),
    (True, True),
    ([1, "a"], [1, "a"]),
    ({"equals": {"a": [1]}}, {"a": [1.0]}),
    ({"equals": {}}, {}),
    ({"equals": None}, None),
    ({"contains": "ell"}, "hello"),
    ({"contains": 2}, [1, 2.0]),
    ({"contains": {"a": 1}}, [{"a": 1}]),
    ({"contains": {"a": {"b": 1}}}, {"a": {"b": 1, "c": 2}, "d": 3}),
    ({"contains": ["he", "lo"]}, "hello"),
    ({"contains": [1, 3]}, [3, 2, 1]),
    ({"contains": [1, 3]}, [[1, 3]]),
    ({"one_of": ["a", "b"]}, "b"),
    ({"one_of": [1, None]}, None),
    ({"exists": True}, ""),
    ({"exists": True}, 0),
    ({"exists": False}, None),
    ({"absent": True}, None),
    ({"absent": False}, False),
    ({"matches": "^a.c$"}, "abc"),
    ({"matches": r"\d{3}"}, "no 123 here"),
    ({"matches": "(?i)ABC"}, "xabcx"),
    ({"length": 2}, [1, 2]),
    ({"length": 2}, "äö"),
    ({"length": 1}, {"a": 1}),
    ({"min_length": 1, "max_length": 3}, "abc"),
    ({"min": 1, "max": 100}, 100),
    ({"min": 0.5}, 0.5),
]
FAILS = [
    (5, "5"),
    ("a", "A"),
    (True, 1),
    (None, ""),
    ([1], [1, 2]),
    ({"equals": {"a": 1}}, {"a": 1, "b": 2}),
    ({"contains": "ELL"}, "hello"),
    ({"contains": 5}, "5"),
    ({"contains": "a"}, {"a": 1}),
    ({"contains": {"a": 1}}, [{"a": 1, "b": 2}]),
    ({"contains": {"a": None}}, {}),
    ({"contains": "a"}, None),
    ({"contains": [1, 9]}, [1, 2]),
    ({"contains": []}, [1]),
    ({"one_of": ["a"]}, "A"),
    ({"exists": True}, None),
    ({"exists": False}, ""),
    ({"absent": True}, ""),
    ({"absent": False}, None),
    ({"matches": "^b"}, "abc"),
    ({"matches": "ABC"}, "abc"),
    ({"matches": "1"}, 1),
    ({"matches": ""}, None),
    ({"length": 2}, 22),
    ({"length": 0}, None),
    ({"min_length": 0}, None),
    ({"max_length": 2}, "abc"),
    ({"max_length": 2}, None),
    ({"min": 1}, 0),
    ({"min": 0}, True),
    ({"min": 0}, "1"),
    ({"max": 1}, 1.5),
    ({"exists": True, "max_length": 2}, "abc"),
]


def check_expectation(matcher: Any) -> None:
    schema.check({"id": "a", "title": "A", "turns": [{"user": "hi", "expect": {"intent": matcher}}]})


@pytest.mark.parametrize(("matcher", "value"), HOLDS)
def test_a_matcher_holds(matcher: Any, value: Any) -> None:
    check_expectation(matcher)
    assert holds(matcher, value)


@pytest.mark.parametrize(("matcher", "value"), FAILS)
def test_a_matcher_does_not_hold(matcher: Any, value: Any) -> None:
    check_expectation(matcher)
    assert not holds(matcher, value)


def test_every_operator_is_seen_to_hold_and_to_fail() -> None:
    for cases in (HOLDS, FAILS):
        used = {word for matcher, _ in cases if isinstance(matcher, dict) for word in matcher}
        assert used == set(OPERATORS)


DOCUMENT = {"a": {"b.c": [1, {"d": None, "e": "x"}]}, "list": [[7]], "é": 1, "x-y": 2, 'q"s': 3}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("$", DOCUMENT),
        ("$.a['b.c'][0]", 1),
        ('$.a["b.c"][1].e', "x"),
        ("$.list[0][0]", 7),
        ("$.é", 1),
        ("$.x-y", 2),
        (r'$["q\"s"]', 3),
    ],
)
def test_a_path_leads_to_its_value(path: str, value: Any) -> None:
    assert select(path, DOCUMENT) == value


@pytest.mark.parametrize("path", ["$.none", "$.a.b", "$.list[1]", "$.list.name", "$.a[0]", "$.a['b.c'][1].d", "$.é.f"])
def test_a_path_that_leads_nowhere_gives_null(path: str) -> None:
    assert select(path, DOCUMENT) is None


def test_a_path_on_nothing_gives_null() -> None:
    assert select("$.a[0]", None) is None


@pytest.mark.parametrize(
    "path", ["", "a", ".a", "$a", "$.", "$..a", "$.a[", "$.a[x]", "$.a[-1]", "$[?(@.a)]", "$.*", "$.a b"]
)
def test_what_is_no_path_of_the_subset_is_refused(path: str) -> None:
    with pytest.raises(MatcherPathError):
        split_path(path)


def test_the_refusal_says_from_where_on() -> None:
    with pytest.raises(MatcherPathError, match=r"'\[\?\(@.a\)\]' on"):
        split_path("$.rows[?(@.a)]")
