import time

import pytest
import yaml

from convengine.files import Unreadable, yaml_text
from convengine.files.yaml_text import read_yaml

_BOMB = "\n".join([f"a0: &a0 [{'x,' * 9}]", *(f"a{n}: &a{n} [{f'*a{n - 1},' * 9}]" for n in range(1, 9))])


def test_an_alias_stands_for_its_value() -> None:
    assert read_yaml("a: &x [1, 2]\nb: *x\n", yaml.CSafeLoader) == {"a": [1, 2], "b": [1, 2]}


@pytest.mark.parametrize(
    ("text", "problem", "line"),
    [
        (_BOMB, "stand for more than 10,000 values", 5),
        ("a: &x {b: *x}", "names nothing that ends before it", 1),
        ("a: *y", "names nothing that ends before it", 1),
        ("[" * 100_000, "nested more than 64 deep", 1),
        ("a:\n" + "".join(f"{' ' * n}- \n" for n in range(100)), "nested more than 64 deep", None),
        ("a: [1", "not valid YAML", 1),
    ],
)
def test_what_is_refused_is_refused_before_it_is_built(text: str, problem: str, line: int | None) -> None:
    began = time.process_time()

    with pytest.raises(Unreadable, match=problem) as refused:
        read_yaml(text, yaml.CSafeLoader)

    assert line is None or refused.value.line == line
    assert time.process_time() - began < 2


def test_values_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_text, "_MOST_VALUES", 100)

    with pytest.raises(Unreadable, match="more than 100 values"):
        read_yaml(f"[{'1,' * 100}]", yaml.CSafeLoader)
