from typing import Any

import pytest

from convengine.scenarios.paths import PathError, select, split_path

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
    with pytest.raises(PathError):
        split_path(path)


def test_the_refusal_says_from_where_on() -> None:
    with pytest.raises(PathError, match=r"'\[\?\(@.a\)\]' on"):
        split_path("$.rows[?(@.a)]")
