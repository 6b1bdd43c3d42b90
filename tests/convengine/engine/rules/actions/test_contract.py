import pytest

from convengine.engine.rules.actions.contract import (
    ENGINE_BRANCHES,
    ActionValueError,
    clear_at_path,
    read_assignments,
    read_context_path,
    read_param_key,
    read_scalar,
    require_names,
    require_value,
    set_at_path,
    split_names,
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("null", None),
        ("true", True),
        ("false", False),
        ("350000", 350000),
        ("-7", -7),
        ("1.50", 1.5),
        ("1.", "1."),
        ("", ""),
        (" high ", "high"),
        ("True", "True"),
        ("1e5", "1e5"),
        ("9" * 40, "9" * 40),
    ],
)
def test_a_text_is_read_as_the_value_it_says(text: str, value: object) -> None:
    assert read_scalar(text) == value
    assert type(read_scalar(text)) is type(value)


def test_a_missing_value_is_asked_for_in_words() -> None:
    for value in (None, "", "  "):
        with pytest.raises(ActionValueError, match="SET_STATE needs a value: the state to move to") as caught:
            require_value("SET_STATE", value, "the state to move to")
        assert caught.value.code == "ACTION_VALUE_REQUIRED"


def test_a_list_must_name_something() -> None:
    assert require_names("X", " a, ,b ", "names") == ("a", "b")
    with pytest.raises(ActionValueError):
        require_names("X", " , ", "names")
    assert split_names("") == ()


def test_param_names_are_plain() -> None:
    assert read_param_key(" order.id-2 ") == "order.id-2"
    for key in ("", "a b", "ä", "x" * 121):
        with pytest.raises(ActionValueError, match="letters, digits"):
            read_param_key(key)


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


def test_a_path_is_dotted_names() -> None:
    assert read_context_path(" $.order.address ") == "order.address"
    assert read_context_path("größe") == "größe"
    for text in ("", "$", "a..b", "a b", "[0]", "a[0]", ".a", "1a"):
        with pytest.raises(ActionValueError):
            read_context_path(text)


@pytest.mark.parametrize("branch", sorted(ENGINE_BRANCHES))
def test_a_branch_of_the_engine_is_refused(branch: str) -> None:
    with pytest.raises(ActionValueError, match=f"{branch} is reserved for the engine"):
        read_context_path(f"{branch}.x")


@pytest.mark.parametrize("name", ["pending_slot", "pendingSlot"])
def test_R97_the_pending_slot_is_the_rules_own(name: str) -> None:
    assert read_context_path(name) == name


def test_writing_makes_a_copy_along_the_path() -> None:
    before = {"a": {"b": 1}, "c": 2}

    assert set_at_path(before, "a.d.e", 3) == {"a": {"b": 1, "d": {"e": 3}}, "c": 2}
    assert before == {"a": {"b": 1}, "c": 2}
    assert set_at_path({"a": None}, "a.b", 1) == {"a": {"b": 1}}
    with pytest.raises(KeyError):
        set_at_path({"a": 5}, "a.b", 1)


def test_clearing_removes_what_is_there() -> None:
    before = {"a": {"b": 1, "c": 2}, "d": 3}

    assert clear_at_path(before, "a.b") == {"a": {"c": 2}, "d": 3}
    assert clear_at_path(before, "d.x.y") == before
    assert clear_at_path(before, "gone") == before
    assert before == {"a": {"b": 1, "c": 2}, "d": 3}
