from pathlib import Path
from typing import Any

import pytest

from convengine.scenarios.reading import Node, read
from convengine.scenarios.wording import ScenarioFileError


def file(folder: Path, text: str) -> Path:
    path = folder / "world.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_dates_stay_texts(tmp_path: Path) -> None:
    assert read(file(tmp_path, "{day: 2024-05-01, at: 2024-05-01 10:00:00, n: 1, t: yes}")).value == {
        "day": "2024-05-01",
        "at": "2024-05-01 10:00:00",
        "n": 1,
        "t": True,
    }


def test_anchors_and_merges_work(tmp_path: Path) -> None:
    assert read(file(tmp_path, "a: &x {b: 1}\nc: {<<: *x, d: 2}")).value["c"] == {"b": 1, "d": 2}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: 1\nb: 2\na: 3", "line 3: the key `a` stands twice."),
        ("a: {1: x}", "line 1: the key 1 is no text; put it in quotes."),
        ("a: [1", "line 1: is no YAML: "),
        ("a: !!python/object:os.system x", "line 1: is no YAML: "),
    ],
)
def test_a_file_that_cannot_be_read_says_where(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(ScenarioFileError) as refused:
        read(file(tmp_path, text))

    assert str(refused.value).startswith(problem)


def test_a_file_that_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(ScenarioFileError, match="cannot be read"):
        read(tmp_path / "none.yaml")


@pytest.mark.parametrize(
    ("ask", "value", "problem"),
    [
        ("text", 1, "must be a text."),
        ("flag", "yes", "must be true or false."),
        ("whole", -1, "must be a whole number of at least 0."),
        ("whole", True, "must be a whole number of at least 0."),
        ("whole", 1.5, "must be a whole number of at least 0."),
        ("document", [], "must be a map."),
        ("texts", "a", "must be a list."),
        ("texts", [1], "turns[1][0]: must be a text."),
        ("one_or_more_texts", 1, "must be a list."),
        ("matcher", {}, "an empty map says nothing"),
        ("matchers", {"a": {}}, "turns[1].a: an empty map says nothing"),
        ("path_matchers", {"a": 1}, "turns[1].a: the path 'a' must begin with $."),
        ("path_matchers", {"$.a": {"equal": 1}}, "turns[1]['$.a']: unknown operator `equal`"),
    ],
)
def test_a_value_of_the_wrong_shape_is_an_error_at_its_place(ask: str, value: Any, problem: str) -> None:
    with pytest.raises(ScenarioFileError) as refused:
        getattr(Node(value, "turns[1]"), ask)()

    assert str(refused.value).startswith(problem if problem.startswith("turns") else f"turns[1]: {problem}")


def test_one_or_more_texts_are_a_tuple() -> None:
    assert Node("a").one_or_more_texts() == ("a",)
    assert Node(["a", "b"]).one_or_more_texts() == ("a", "b")


def test_an_unknown_key_is_an_error_at_its_place() -> None:
    with pytest.raises(ScenarioFileError, match=r"turns\[0\].usr: unknown key `usr`; did you mean `user`"):
        Node({"usr": 1}, "turns[0]").fields(("user",))


def test_a_missing_key_is_an_error() -> None:
    with pytest.raises(ScenarioFileError, match=r"turns\[0\]: the key `user` is missing."):
        Node({}, "turns[0]").fields(("user",))


@pytest.mark.parametrize("keys", [{}, {"a": 1, "b": 2}])
def test_of_two_keys_exactly_one_must_be_there(keys: dict[str, int]) -> None:
    node = Node(keys, "llm[0]")

    with pytest.raises(ScenarioFileError, match=r"llm\[0\]: needs either `a` or `b`."):
        node.fields((), ("a", "b")).exactly_one("a", "b", node)
