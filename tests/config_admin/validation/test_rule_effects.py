"""The names that rules write come from the declarations of their actions, a deployment's own included."""

from dataclasses import replace
from typing import Any

import pytest

from config_admin.validation.rule_effects import list_params, list_written_names
from convengine.engine.rules import vocabulary
from convengine.engine.rules.actions.contract import COMPUTED, Action, Write
from tests.builders import make_rule, make_snapshot


@pytest.mark.parametrize(
    ("action", "value", "params"),
    [
        ("SET_INPUT_PARAM", "vip", ("vip",)),
        ("SET_JSON", "amount:$.context.amount", ("amount",)),
        ("SET_JSON", None, ("llm_json",)),
        ("GET_CONTEXT", "copy", ("copy",)),
        ("REMOVE_INPUT_PARAM", "vip", ()),
        ("SET_STATE", "DONE", ()),
        ("SET_INPUT_PARAM", "{", ()),
    ],
)
def test_the_params_that_a_rule_writes(action: str, value: str | None, params: tuple[str, ...]) -> None:
    assert list_params(make_rule(action=action, action_value=value)) == params


def test_templates_may_use_what_an_action_declares(monkeypatch: pytest.MonkeyPatch) -> None:
    def write(value: Any) -> list[Write]:
        return [Write(("inputParams", "greeting"), COMPUTED), Write(("context", "guest", "name"), value)]

    greet = Action(
        "GREET", "Greet", "Greets.", "a text", "text", str, lambda rule, session, turn: session, writes=write
    )
    monkeypatch.setattr(vocabulary, "get_action", lambda name: replace(greet, writes=write))

    assert list_written_names(make_snapshot(make_rule(action="GREET", action_value="Hi"))) == {"greeting", "guest"}
