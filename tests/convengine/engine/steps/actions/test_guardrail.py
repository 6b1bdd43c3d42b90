from typing import Any

import pytest

from convengine.engine.steps.actions.guardrail import GuardrailStep
from convengine.engine.turn.rows import Row
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from tests.builders import (
    CONVERSATION,
    make_action,
    make_config,
    make_intent,
    make_snapshot,
    make_turn,
    payload,
    stages,
)

EXECUTE, REJECT, RECLASSIFY = "EXECUTE_PENDING_ACTION", "REJECT_PENDING_ACTION", "RECLASSIFY_INTENT"


def setting(key: str, value: str) -> Row:
    return make_config(f"GuardrailStep/{key}", value)


REQUIRED = setting("REQUIRE_APPROVAL_FOR_SENSITIVE_ACTIONS", "true")
PATTERN = setting("SENSITIVE_PATTERNS", "close.*account")
GUARDED = (REQUIRED, PATTERN)


def run(text: str | None, *rows: Row, decision: str = RECLASSIFY, **fields: Any) -> tuple[Session, Turn]:
    sent = fields.pop("sent", {})
    turn = make_turn(make_snapshot(make_intent("BANK"), *rows), text=text)
    params = {"policy_decision": decision, "skip_intent_resolution": decision != RECLASSIFY, **sent}
    params = fields.pop("input_params", params)
    values = {"intent": "BANK", "state": "CONFIRM", "user_text": text, **fields}
    session = Session(CONVERSATION, 6, **{"user_input_params": sent, **values}).with_params(params)
    return GuardrailStep().execute(session, turn).session, turn


def is_denied(text: str | None, *rows: Row, **fields: Any) -> bool:
    session, turn = run(text, *rows, **fields)
    names = [stage for stage in stages(turn) if stage.startswith("GUARDRAIL_")]
    assert len(names) == 1
    assert session.input_params["guardrail_blocked"] is (names == ["GUARDRAIL_DENY"])
    return names == ["GUARDRAIL_DENY"]


def test_GR_V1_without_patterns_everything_is_allowed() -> None:
    _, turn = run("Close my account")

    assert payload(turn, "GUARDRAIL_ALLOW") == {
        "result": "ALLOW",
        "sensitive": False,
        "approvalRequired": False,
        "approvalGranted": False,
        "intent": "BANK",
        "state": "CONFIRM",
    }


def test_GR_V2_a_sensitive_text_without_approval_is_denied() -> None:
    session, turn = run("Close my   account", *GUARDED, decision=EXECUTE)

    params = session.input_params
    assert (params["guardrail_blocked"], params["guardrail_reason"]) == (True, "SENSITIVE_ACTION_APPROVAL_REQUIRED")
    assert (params["policy_decision"], params["skip_intent_resolution"]) == (RECLASSIFY, True)
    assert (params["skip_tool_execution"], params["skip_pending_action_execution"]) == (True, True)
    assert payload(turn, "GUARDRAIL_DENY") == {
        "result": "DENY",
        "reason": "SENSITIVE_ACTION_APPROVAL_REQUIRED",
        "sensitive": True,
        "approvalGranted": False,
        "userText": "Close my account",
        "intent": "BANK",
        "state": "CONFIRM",
        "matchedOn": "TEXT",
        "patternIndex": 0,
    }


@pytest.mark.parametrize("key", ["approval_granted", "approvalGranted"])
@pytest.mark.parametrize("value", [True, "true", 1, "YES"])
@pytest.mark.amended("R107")
def test_GR_V3_an_approval_in_the_request_allows(key: str, value: Any) -> None:
    session, turn = run("close my account", *GUARDED, sent={key: value})

    assert payload(turn, "GUARDRAIL_ALLOW")["approvalGranted"] is True
    assert session.input_params["guardrail_blocked"] is False


def test_GR_V4_an_approval_counts_for_its_request_only() -> None:
    assert is_denied("close my account", *GUARDED, input_params={"approval_granted": True})
    assert is_denied("close my account", *GUARDED, sent={"approval_granted": "maybe"})


@pytest.mark.amended("R91")
def test_GR_V5_a_harmless_turn_is_allowed_and_its_flags_stay_as_they_are() -> None:
    session, _ = run("hello", *GUARDED)

    assert "skip_tool_execution" not in session.input_params
    expired = {"policy_decision": RECLASSIFY, "skip_pending_action_execution": True}
    session, _ = run("hello", *GUARDED, input_params=expired)
    assert session.input_params["skip_pending_action_execution"] is True


def test_GR_V6_sensitive_is_allowed_where_approval_is_not_required() -> None:
    _, turn = run("close my account", PATTERN)

    event = payload(turn, "GUARDRAIL_ALLOW")
    assert (event["sensitive"], event["approvalRequired"]) == (True, False)


@pytest.mark.parametrize(
    "action",
    [
        pytest.param({"action_key": "close_account"}, id="its key"),
        pytest.param({"action_key": "X", "description": "close the account"}, id="its description"),
        pytest.param({"action_key": "X", "bean_name": "close", "method_names": "account"}, id="its task"),
    ],
)
def test_GR_V7_a_bare_yes_to_a_sensitive_action_is_denied(action: dict[str, str]) -> None:
    _, turn = run("yes", make_action(**action), *GUARDED, decision=EXECUTE)

    assert payload(turn, "GUARDRAIL_DENY")["matchedOn"] == "ACTION"
    assert not is_denied("yes", make_action(**action), *GUARDED, decision=RECLASSIFY)


@pytest.mark.parametrize("request_", [{"tool_code": "close.account"}, '{"tool_code": "close.account", "args": {}}'])
def test_a_tool_that_is_asked_for_may_be_sensitive(request_: Any) -> None:
    _, turn = run("go", *GUARDED, sent={"tool_request": request_})

    assert payload(turn, "GUARDRAIL_DENY")["matchedOn"] == "TOOL"


@pytest.mark.parametrize("request_", ["{", "7", [], {"tool_code": None}, "[" * 100_000])
def test_a_tool_request_that_says_nothing_is_harmless(request_: Any) -> None:
    assert not is_denied("go", *GUARDED, sent={"tool_request": request_})


@pytest.mark.parametrize(("closed", "expected"), [("false", False), ("true", True)])
def test_GR_V8_a_pattern_that_cannot_be_used_counts_as_the_setting_says(closed: str, expected: bool) -> None:
    rows = (REQUIRED, setting("SENSITIVE_PATTERNS", "(["), setting("APPROVAL_GATE_FAIL_CLOSED", closed))

    assert is_denied("hello", *rows) is expected
    assert "CONFIG_ROW_INVALID" in stages(run("hello", *rows)[1])
    assert not is_denied(None, *rows)


@pytest.mark.parametrize(
    "approval",
    [
        {"granted": "true"},
        {"granted": True, "actionKey": "CLOSE_ACCOUNT"},
        {"granted": True, "turn": 6},
        {"granted": True, "turn": 5, "actionKey": "close_account"},
    ],
)
def test_GR_V9_an_approval_of_the_context_counts_for_what_it_is_tied_to(approval: Any) -> None:
    rows = (make_action("close_account"), *GUARDED)

    assert not is_denied("yes", *rows, decision=EXECUTE, context={"approval": approval, "pending_action_runtime": OPEN})


OPEN = {
    "status": "IN_PROGRESS",
    "action_key": "close_account",
    "action_ref": "billing:refund",
    "scope": "BANK|CONFIRM",
    "created_turn": 4,
}


@pytest.mark.parametrize(
    "approval",
    [
        None,
        True,
        {},
        {"granted": False},
        {"granted": "no"},
        {"granted": True, "actionKey": "other"},
        {"granted": True, "turn": 3},
        {"granted": True, "turn": 7},
        {"granted": True, "turn": "soon"},
    ],
)
def test_any_other_approval_does_not(approval: Any) -> None:
    rows = (make_action("close_account"), *GUARDED)

    assert is_denied("yes", *rows, decision=EXECUTE, context={"approval": approval, "pending_action_runtime": OPEN})


def test_without_an_action_an_approval_is_tied_to_its_own_turn() -> None:
    def is_approved(turn: int) -> bool:
        return not is_denied("close my account", *GUARDED, context={"approval": {"granted": True, "turn": turn}})

    assert [is_approved(turn) for turn in (5, 6, 7)] == [False, True, False]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("a\r\n\tb  c", "a b c", id="GR_V10"),
        pytest.param(" cl\u200bo\u0000se\u202e ", "close", id="what shows nothing is gone"),
        pytest.param(None, "", id="nothing"),
    ],
)
def test_the_text_is_cleaned(text: str | None, expected: str) -> None:
    session, _ = run(text)

    assert session.input_params["sanitized_user_text"] == expected
    assert session.user_text == text


def test_the_clean_text_can_be_kept_private_and_is_looked_at_all_the_same() -> None:
    session, turn = run("clo\u200bse my\naccount", *GUARDED, setting("SANITIZE_INPUT", "false"))

    assert "sanitized_user_text" not in session.input_params
    assert "GUARDRAIL_DENY" in stages(turn)


@pytest.mark.parametrize("padding", [0, 3990, 4000, 6000, 12000])
def test_padding_does_not_hide_a_sensitive_word(padding: int) -> None:
    assert is_denied("x" * padding + " close my account", *GUARDED)


def test_the_pattern_that_hit_is_named() -> None:
    _, turn = run("wipe it", REQUIRED, setting("SENSITIVE_PATTERNS", "close\nwipe"))

    assert payload(turn, "GUARDRAIL_DENY")["patternIndex"] == 1


def test_a_denial_may_have_an_answer_of_its_own() -> None:
    assert run("close my account", *GUARDED)[0].reply_override is None
    session, _ = run("close my account", *GUARDED, setting("DENY_RESPONSE", "Ask a supervisor."))

    assert session.reply_override is not None
    assert (session.reply_override.text, session.reply_override.source) == ("Ask a supervisor.", "GUARDRAIL")


def test_a_denial_never_turns_a_rejection_into_something_else() -> None:
    session, _ = run("no, do not close my account", *GUARDED, decision=REJECT)

    assert session.input_params["policy_decision"] == REJECT


def test_an_action_that_was_confirmed_and_is_denied_is_open_again() -> None:
    session, turn = run(
        "yes", make_action("close_account"), *GUARDED, decision=EXECUTE, context={"pending_action_runtime": OPEN}
    )

    assert session.context["pending_action_runtime"]["status"] == "OPEN"
    assert payload(turn, "PENDING_ACTION_LIFECYCLE")["event"] == "REVERTED"


def test_switched_off_it_neither_looks_nor_tells() -> None:
    session, turn = run("close my account", *GUARDED, setting("ENABLED", "false"))

    assert stages(turn) == []
    assert "guardrail_blocked" not in session.input_params
