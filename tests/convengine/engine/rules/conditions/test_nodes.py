import pytest

from convengine.engine.rules.conditions.json_path import parse_path


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("$", "$"),
        ("state", "$.state"),
        ("$['a'].b-c[0,-1]", "$.a.b-c[0,-1]"),
        ("$['odd name','x']", "$['odd name','x']"),
        ("$..x[*][1:]", "$..x[*][1:]"),
        ("$.a[::2]", "$.a[::2]"),
    ],
)
def test_a_path_is_written_so_that_it_reads_the_same(path: str, text: str) -> None:
    parsed = parse_path(path)

    assert str(parsed) == text
    assert parse_path(text) == parsed


def test_a_filter_is_only_hinted_at() -> None:
    assert str(parse_path("$.a[?(@.b == 1)].c")) == "$.a[?…].c"


@pytest.mark.parametrize(
    ("path", "definite"), [("$.a[0].b", True), ("$.a[0,1]", False), ("$..a", False), ("$.*", False)]
)
def test_a_definite_path_leads_to_one_value_at_most(path: str, definite: bool) -> None:
    assert parse_path(path).definite is definite
