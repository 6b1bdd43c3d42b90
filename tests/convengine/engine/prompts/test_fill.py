from typing import Any

import pytest

from convengine.engine.errors import UnresolvedPromptVariable
from convengine.engine.prompts.fill import FilledPrompts, fill_prompts
from tests.builders import make_session, make_turn, payload, stages


def fill(**values: Any) -> tuple[FilledPrompts, Any]:
    turn = make_turn()
    session = make_session(intent="LOAN", user_text="what is {{x}}?", input_params={"amount": 7})
    return fill_prompts(session, turn, **{"system": "Be brief.", "user": "Q: {{ user_input }}", **values}), turn


def test_names_are_filled_in_and_the_users_own_brackets_stay() -> None:
    done, _ = fill()

    assert done == FilledPrompts("Be brief.", "Q: what is {{x}}?")
    assert done.user_with_hint == done.user


def test_the_hint_comes_after_the_user_prompt_with_its_names_filled_in() -> None:
    done, _ = fill(hint="Name {{ amount }}.")

    assert done == FilledPrompts("Be brief.", "Q: what is {{x}}?", "Name 7.")
    assert done.user_with_hint == "Q: what is {{x}}?\n\nName 7."


def test_a_prompt_may_show_the_hint_itself() -> None:
    assert fill(hint="Name {{ amount }}.", system="First: {{ derivation_hint }}")[0].system == "First: Name 7."


def test_names_of_the_call_are_known() -> None:
    assert fill(user="{{ options }}", options="a or b")[0].user == "a or b"


def test_each_prompt_leaves_its_names_and_sizes() -> None:
    _, turn = fill()

    assert stages(turn) == ["PROMPT_RENDERING", "PROMPT_RENDERING"]
    assert payload(turn, "PROMPT_RENDERING", 1) == {
        "rendered_template": "Q: what is {{x}}?",
        "promptVars": {"user_input": 14},
    }


def test_a_name_that_nothing_set_is_named_in_the_error() -> None:
    with pytest.raises(UnresolvedPromptVariable) as caught:
        fill(user="{{ nope }} {{ amount }}", selected={"templateId": 3})

    meta = caught.value.meta
    assert (meta["missingPromptVars"], meta["promptSelected"]) == (["nope"], {"templateId": 3})
    assert meta["user_prompt"] == "{{ nope }} {{ amount }}"
    assert meta["session"]["intent"] == "LOAN"


def test_so_is_one_of_the_hint() -> None:
    with pytest.raises(UnresolvedPromptVariable) as caught:
        fill(hint="{{ nope }}")

    assert caught.value.meta["missingPromptVars"] == ["nope"]
