import pytest

from convengine.engine.rules.actions.context_paths import ENGINE_BRANCHES, clear_at_path, read_context_path, set_at_path
from convengine.engine.rules.actions.contract import ActionValueError


def test_a_path_is_dotted_names() -> None:
    assert read_context_path(" $.order.address ") == "order.address"
    assert read_context_path("größe") == "größe"
    for text in ("", "$", "a..b", "a b", "[0]", "a[0]", ".a", "1a"):
        with pytest.raises(ActionValueError):
            read_context_path(text)


@pytest.mark.parametrize("branch", sorted(ENGINE_BRANCHES))
def test_a_branch_of_the_engine_is_refused(branch: str) -> None:
    with pytest.raises(ActionValueError, match=f"{branch} belongs to the engine"):
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
