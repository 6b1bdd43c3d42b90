from typing import Any

import pytest

from convengine.engine.rules import vocabulary
from convengine.engine.rules.actions.contract import ActionFailed, ActionValueError
from convengine.engine.rules.vocabulary import get_action, list_actions, rule_action
from convengine.engine.turn.enums import RuleAction
from convengine.engine.turn.stage import find_stage
from tests.builders import make_rule, make_session, make_turn


@pytest.fixture
def _own_actions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vocabulary, "_custom", {})


def test_every_action_has_its_words_its_value_and_its_stage() -> None:
    assert list(list_actions()) == list(RuleAction)
    for name, action in list_actions().items():
        assert action.label
        assert action.help.endswith(".")
        assert action.value
        assert action.picker
        assert find_stage(name)


def test_an_action_that_needs_a_value_says_which() -> None:
    for action in list_actions().values():
        if action.value_required:
            with pytest.raises(ActionValueError, match=action.value):
                action.parse(None)
        else:
            action.parse(None)


def test_an_action_is_found_in_any_case() -> None:
    assert get_action(" set_state ") is list_actions()["SET_STATE"]
    assert get_action("SET_STAT") is None
    assert get_action(None) is None


@pytest.mark.usefixtures("_own_actions")
def test_a_deployment_adds_actions() -> None:
    @rule_action("notify_desk", help="Tells the desk.", picker="text")
    def notify(rule: Any, session: Any, turn: Any) -> Any:
        return session.with_params({"told": rule.action_value})

    action = get_action("NOTIFY_DESK")
    assert action is not None
    assert (action.label, action.custom) == ("Notify desk", True)
    session = action.apply(make_rule(action_value="x"), make_session(), make_turn())
    assert session.input_params == {"told": "x"}


@pytest.mark.usefixtures("_own_actions")
def test_what_a_deployments_action_raises_is_a_failure_of_the_rule() -> None:
    @rule_action("BROKEN")
    def fail(rule: Any, session: Any, turn: Any) -> Any:
        raise LookupError("no desk")

    action = get_action("BROKEN")
    assert action is not None
    with pytest.raises(ActionFailed, match="no desk") as caught:
        action.apply(make_rule(), make_session(), make_turn())
    assert caught.value.error_type == "LookupError"


def test_a_name_is_taken_once() -> None:
    with pytest.raises(ValueError, match="already"):
        rule_action("SET_STATE")(lambda rule, session, turn: session)
