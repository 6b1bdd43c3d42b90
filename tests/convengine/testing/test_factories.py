"""The factories make what extensions get in a turn, and nothing needs a database."""

from datetime import UTC, datetime

import pytest

from convengine.engine.pipeline.hooks import StepHook
from convengine.testing import (
    TextPayload,
    make_container_request,
    make_rule,
    make_session,
    make_session_facts,
    make_task_call,
    make_turn,
)


def test_a_task_call_has_copies_to_read_and_takes_what_is_written() -> None:
    call = make_task_call(
        context={"number": 7}, input_params={"vip": True}, intent="REFILL", user_text="hi", args={"a": 1}
    )
    call.set_context("pickup", "P-7")
    call.clear_context("number")
    call.set_input_param("vip", False)

    assert (call.session["intent"], call.session["context"], call.args) == ("REFILL", {"number": 7}, {"a": 1})
    assert (call.written_context, call.removed_context, call.written_params) == (
        {"pickup": "P-7"},
        ["number"],
        {"vip": False},
    )
    assert call.context == {"number": 7}


def test_facts_have_the_names_that_a_turn_gives_them() -> None:
    facts = make_session_facts(intent="REFILL", state="COLLECT", context={"a": 1})

    assert (facts["intent"], facts["state"], facts["context"]) == ("REFILL", "COLLECT", {"a": 1})


def test_a_hook_gets_a_session_and_a_turn_with_a_fixed_clock() -> None:
    class Season(StepHook):
        def before_step(self, step_name, session, turn):  # type: ignore[no-untyped-def]
            return session.with_params({"month": turn.ports.clock.now().month})

    turn = make_turn(at=datetime(2026, 7, 1, tzinfo=UTC))

    assert Season().before_step("RulesStep", make_session(), turn).input_params["month"] == 7
    with pytest.raises(AttributeError, match="make_turn has no run"):
        turn.ports.tools.run("a", "b", {}, make_session())


def test_requests_rules_and_payloads_have_sensible_defaults() -> None:
    assert make_container_request(2, input_params={"a": 1}).page_id == 2
    assert (make_rule(match_pattern="x").match_pattern, make_rule().rule_id) == ("x", 1)
    assert TextPayload("hi").type == "TEXT"
