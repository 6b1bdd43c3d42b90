"""A test on a snapshot: every kind of expectation, and what changed since it passed."""

from datetime import UTC, datetime
from typing import Any

import pytest

from config_admin import models as m
from config_admin.releases.change_set import change_set
from config_admin.test_cases.play import play_test
from convengine.server.interfaces.configuration import configuration
from tests.config_admin.test_cases.builders import make_test, run_tests
from tests.worlds import create_help_desk

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


@pytest.fixture(autouse=True)
def desk() -> None:
    create_help_desk()


def play(*turns: Any, **more: Any) -> list[str]:
    """The places where a test fails."""
    verdict = play_test(make_test("A test", *turns, **more), configuration().current(), NOW)
    return [failure["where"] for failure in verdict.failures]


@pytest.mark.parametrize(
    ("expect", "place"),
    [
        ({"intent": "HOURS"}, None),
        ({"intent": "FEES"}, "expect.intent"),
        ({"state": "IDLE"}, None),
        ({"state": {"one_of": ["A", "B"]}}, "expect.state"),
        ({"response": {"equals": "Nine to five."}}, None),
        ({"response": {"equals": "Nine"}}, "expect.response.equals"),
        ({"response": {"contains": "to five"}}, None),
        ({"response": {"contains": "to six"}}, "expect.response.contains"),
        ({"response": {"matches": "^Nine .* five"}}, None),
        ({"response": {"matches": "^five"}}, "expect.response.matches"),
        ({"context": {"$.vip": {"absent": True}}}, None),
        ({"context": {"$.vip": True}}, "expect.context['$.vip']"),
        ({"input_params": {"a": 1}}, "expect.input_params.a"),
        ({"task_calls": []}, None),
        ({"task_calls": [{"bean": "till", "method": "open"}]}, "expect.task_calls"),
        ({"tool_calls": [{"tool_code": "x"}]}, "expect.tool_calls"),
        ({"llm_calls": 0}, None),
        ({"audit_stages_absent": ["INTENT_RESOLVED_BY_CLASSIFIER"]}, "expect.audit_stages_absent"),
        ({"trace_steps_in_order": ["IntentResolutionStep", "ResponseResolutionStep"]}, None),
        ({"persisted": {"intent_code": "HOURS", "last_turn_no": 1}}, None),
        ({"error": {"code": "X"}}, "expect.error.payload.type"),
    ],
)
def test_each_kind_of_expectation(expect: Any, place: str | None) -> None:
    places = play({"user": "hours", "expect": expect})
    assert (place in places) if place else places == []


def test_turns_follow_one_another_and_params_reach_the_rules() -> None:
    vip = {"user": "hours", "input_params": {"vip": True}, "expect": {"state": "VIP"}}
    assert play({"user": "fees", "expect": {"response": {"equals": "No fees."}}}, vip) == []


def test_a_task_without_a_stub_fails_the_turn_and_a_stub_answers_it() -> None:
    with change_set():
        m.CeRule.objects.create(
            phase="PRE_RESPONSE_RESOLUTION", intent_code="HOURS", state_code="IDLE", rule_type="EXACT",
            match_pattern="ANY", action="SET_TASK", action_value="till:open",
        )  # fmt: skip
    turn = {"user": "hours", "expect": {"task_calls": [{"bean": "till", "method": "open"}]}}
    assert "unscripted call" in play(turn)
    assert play(turn, tasks=[{"bean": "till", "method": "open", "returns": None}]) == []


def test_a_failure_names_the_row_that_changed_since_it_passed() -> None:
    make_test("Hours are told", {"user": "hours", "expect": {"response": {"equals": "Nine to five."}}})
    passed = run_tests()
    answer = m.CeResponse.objects.get(exact_text="Nine to five.")
    with change_set(reason="longer hours"):
        answer.exact_text = "Nine to six."
        answer.save()
    failed = run_tests()
    result = failed.results.get()
    assert (passed.passed, failed.failed) == (1, 1)
    assert result.failures == [
        {"turn": 1, "where": "expect.response.equals", "expected": "Nine to five.", "got": "Nine to six."}
    ]
    assert result.since_passed["rows"] == [{"table": "ce_response", "pk": str(answer.pk), "how": "changed"}]
    assert result.since_passed["run"] == passed.pk
    assert any("Nine to six." in line for line in result.turns[0]["lines"])


def test_a_new_row_that_decides_now_is_named() -> None:
    make_test("Hours are told", {"user": "hours", "expect": {"state": "IDLE"}})
    run_tests()
    with change_set():
        rule = m.CeRule.objects.create(
            phase="PRE_RESPONSE_RESOLUTION", intent_code="HOURS", state_code="IDLE", rule_type="EXACT",
            match_pattern="ANY", action="SET_STATE", action_value="VIP",
        )  # fmt: skip
    rows = run_tests().results.get().since_passed["rows"]
    assert {"table": "ce_rule", "pk": str(rule.pk), "how": "decides now"} in rows
