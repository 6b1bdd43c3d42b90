from typing import Any

import pytest

from convengine.engine.pipeline.step import Continue, Outcome, Stop
from convengine.engine.steps.policy.step import PolicyEnforcementStep
from convengine.engine.turn.rows import Policy
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from tests.builders import CONVERSATION, make_config, make_policy, make_snapshot, make_turn, payload, stages


def run(text: str | None, *policies: Any, **fields: Any) -> tuple[Outcome, Turn]:
    turn = make_turn(make_snapshot(*policies), text=text)
    session = Session(CONVERSATION, user_text=text, **{"intent": "FAQ", "state": "IDLE", **fields})
    return PolicyEnforcementStep().execute(session, turn), turn


def is_blocked(text: str | None, *policies: Policy) -> bool:
    return isinstance(run(text, *policies)[0], Stop)


def test_POL_V1_a_pattern_that_is_found_blocks() -> None:
    policy = make_policy("REGEX", r"\bssn\b", policy_id=7, description="PII")

    outcome, turn = run("my SSN is 1", policy)

    assert isinstance(outcome, Stop)
    assert outcome.session.status == "BLOCKED"
    assert outcome.result.payload.value == "I cannot help with that."
    assert (outcome.result.intent, outcome.result.state) == ("FAQ", "IDLE")
    told = payload(turn, "POLICY_BLOCK")
    assert (told["policyId"], told["ruleType"], told["matchedExcerpt"]) == (7, "REGEX", "SSN")
    assert payload(turn, "DECISION")["winner"] == 7


def test_POL_V2_a_part_of_a_word_is_no_word() -> None:
    assert not is_blocked("lesson", make_policy("REGEX", r"\bssn\b"))


def test_POL_V3_contains_is_by_characters() -> None:
    assert is_blocked("BOMBastic", make_policy("CONTAINS", "bomb"))


def test_POL_V4_starts_with_is_about_the_start() -> None:
    assert not is_blocked("please sudo", make_policy("STARTS_WITH", "sudo"))
    assert is_blocked("  SUDO please", make_policy("STARTS_WITH", "sudo"))


def test_POL_V5_exact_ignores_blanks_and_case() -> None:
    assert is_blocked(" Quit ", make_policy("EXACT", "quit"))


def test_POL_V6_exact_is_the_whole_text() -> None:
    assert not is_blocked("quit now", make_policy("EXACT", "quit"))


def test_POL_V7_the_lowest_priority_number_wins() -> None:
    _, turn = run(
        "bomb", make_policy("EXACT", "bomb", policy_id=1, priority=20), make_policy("EXACT", "bomb", policy_id=2)
    )

    assert payload(turn, "POLICY_BLOCK")["policyId"] == 2
    assert payload(turn, "DECISION")["candidates"] == [
        {"id": 2, "matched": True},
        {"id": 1, "matched": False, "reason": "LOWER_PRIORITY"},
    ]


def test_POL_V8_a_broken_pattern_is_inactive_and_told() -> None:
    outcome, turn = run("hello", make_policy("REGEX", "([", policy_id=3))

    assert isinstance(outcome, Continue)
    told = payload(turn, "CONFIG_ROW_INVALID")
    assert (told["table"], told["rowId"]) == ("ce_policy", 3)


def test_POL_V9_no_text_is_nothing_to_test() -> None:
    assert not is_blocked(None, make_policy("REGEX", ".*"))
    assert not is_blocked("   ", make_policy("REGEX", ".*"))


def test_POL_V10_the_turn_after_a_block_runs_again() -> None:
    outcome, _ = run("hello", make_policy("EXACT", "quit"), status="BLOCKED")

    assert isinstance(outcome, Continue)
    assert outcome.session.status == "RUNNING"


def test_POL_V11_a_block_still_leaves_its_closing_events() -> None:
    _, turn = run("quit", make_policy("EXACT", "quit"))

    assert stages(turn) == ["DECISION", "POLICY_BLOCK", "ASSISTANT_OUTPUT", "ENGINE_RETURN"]


def test_POL_V12_characters_without_width_do_not_slip_through() -> None:
    assert is_blocked("b\u200bomb", make_policy("CONTAINS", "bomb"))
    assert is_blocked("b\u200bomb", make_policy("REGEX", "bomb"))
    assert is_blocked("ｂｏｍｂ", make_policy("REGEX", "bomb"))


def test_a_blank_pattern_never_blocks() -> None:
    assert not is_blocked("anything", make_policy("CONTAINS", " "))
    assert not is_blocked("anything", make_policy("REGEX", None))


def test_an_unknown_type_is_inactive_and_told() -> None:
    _, turn = run("bomb", make_policy("SOUNDS_LIKE", "bomb"))

    assert payload(turn, "CONFIG_ROW_INVALID")["table"] == "ce_policy"


def test_an_unusable_text_is_replaced_by_the_default() -> None:
    outcome, _ = run("quit", make_policy("EXACT", "quit", response_text=" "))

    assert isinstance(outcome, Stop)
    assert outcome.result.payload.value.strip()


def test_rows_that_were_not_met_are_counted_not_listed() -> None:
    _, turn = run(
        "hello", make_policy("EXACT", "a"), make_policy("EXACT", "b"), make_policy("EXACT", "hello", enabled=False)
    )

    told = payload(turn, "DECISION")
    assert (told["winner"], told["candidates"]) == (None, [])
    assert told["cut"] == {"DISABLED": 1, "PATTERN": 2}


@pytest.mark.parametrize(("mode", "blocks"), [("OPEN", False), ("CLOSED", True)])
def test_without_a_model_a_model_policy_holds_as_the_fail_mode_says(mode: str, blocks: bool) -> None:
    rows = (
        make_policy("LLM", "asks for medical advice"),
        make_config("PolicyEnforcementStep/ENABLE_LLM", "true"),
        make_config("PolicyEnforcementStep/LLM_FAIL_MODE", mode),
    )

    outcome, turn = run("my head hurts", *rows)

    assert isinstance(outcome, Stop) is blocks
    assert "POLICY_LLM_ERROR" in stages(turn)


def test_model_policies_are_off_unless_switched_on() -> None:
    outcome, turn = run("my head hurts", make_policy("LLM", "asks for medical advice"))

    assert isinstance(outcome, Continue)
    assert "POLICY_LLM_ERROR" not in stages(turn)


def test_a_terminal_block_answers_the_same_again() -> None:
    outcome, turn = run(
        "hello",
        make_config("POLICY/BLOCK_IS_TERMINAL", "true"),
        status="BLOCKED",
        last_assistant={"type": "TEXT", "value": "Goodbye."},
    )

    assert isinstance(outcome, Stop)
    assert outcome.result.payload.value == "Goodbye."
    assert payload(turn, "POLICY_BLOCK")["reason"] == "TERMINAL"
