import pytest

from convengine.engine.rules.actions.assignments import read_assignments
from convengine.engine.rules.actions.contract import ActionValueError, read_scalar


def read(text: str, *, bare: bool = True) -> object:
    return read_assignments(text, "usage", str.strip, read_scalar, bare=bare)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ('[{"key":"a","value":1},{"key":"b","value":true}]', {"a": 1, "b": True}),
        ('{"key":"a","value":[1]}', {"a": [1]}),
        ('{"key":"a"}', {"a": None}),
        ('{"a":1,"b":{"c":2}}', {"a": 1, "b": {"c": 2}}),
        ("a:b:c", {"a": "b:c"}),
        ("a:", {"a": ""}),
        ("a", {"a": True}),
    ],
)
def test_every_form_says_what_is_assigned(text: str, values: object) -> None:
    assert read(text) == values


@pytest.mark.parametrize("text", ['{"a":1', "[1]", '[{"value":1}]', "[]", "{}", '{"key":7,"value":1}'])
def test_json_of_another_shape_is_refused(text: str) -> None:
    with pytest.raises(ActionValueError, match="usage"):
        read(text)


def test_a_bare_name_is_only_taken_where_it_means_true() -> None:
    with pytest.raises(ActionValueError, match="usage"):
        read("a", bare=False)
