from convengine.engine.turn.params import (
    hide_internal,
    is_engine_owned,
    is_turn_param,
    keep_persistent,
    remove_reserved,
    select_turn_facts,
)


def test_a_callers_own_keys_last_and_are_his() -> None:
    assert not is_engine_owned("colour")
    assert not is_turn_param("colour")


def test_controls_of_the_caller_live_one_turn() -> None:
    assert not is_engine_owned("force_intent_resolution")
    assert is_turn_param("force_intent_resolution")


def test_what_the_engine_owns_is_dropped_and_named() -> None:
    assert remove_reserved({"guardrail_blocked": False, "colour": "red"}, may_approve=False) == (
        {"colour": "red"},
        ["guardrail_blocked"],
    )


def test_what_lasts_and_what_the_turn_record_keeps_are_apart() -> None:
    params = {
        "colour": "red", "tool_request": {}, "pending_action_key": "PAY", "session": {}, "previousTurn": {},
        "memory_recall": "x", "memory_session_summary": "y", "standalone_query": None,
    }  # fmt: skip

    assert keep_persistent(params) == {"colour": "red", "pending_action_key": "PAY"}
    assert select_turn_facts(params) == {"tool_request": {}}


def test_what_would_nest_the_session_in_itself_is_not_shown() -> None:
    assert hide_internal({"context": {}, "schema_json": {}, "colour": "red"}) == {"colour": "red"}


def test_texts_of_a_caller_are_composed_as_the_message_is() -> None:
    params, _ = remove_reserved({"name": "Zoe\u0308", "list": [{"city": "Ko\u0308ln"}], "n": 1}, may_approve=False)

    assert params == {"name": "Zo\u00eb", "list": [{"city": "K\u00f6ln"}], "n": 1}
