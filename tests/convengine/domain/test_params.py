from convengine.domain.params import engine_owned, facts_of_turn, lives_one_turn, persistent, shown, split_reserved


def test_a_callers_own_keys_last_and_are_his() -> None:
    assert not engine_owned("colour")
    assert not lives_one_turn("colour")


def test_controls_of_the_caller_live_one_turn() -> None:
    assert not engine_owned("force_intent_resolution")
    assert lives_one_turn("force_intent_resolution")


def test_what_the_engine_owns_is_dropped_and_named() -> None:
    assert split_reserved({"guardrail_blocked": False, "colour": "red"}) == ({"colour": "red"}, ["guardrail_blocked"])


def test_what_lasts_and_what_the_turn_record_keeps_are_apart() -> None:
    params = {
        "colour": "red", "tool_request": {}, "pending_action_key": "PAY", "session": {}, "previousTurn": {},
        "memory_recall": "x", "memory_session_summary": "y", "standalone_query": None,
    }  # fmt: skip

    assert persistent(params) == {"colour": "red", "pending_action_key": "PAY"}
    assert facts_of_turn(params) == {"tool_request": {}}


def test_what_would_nest_the_session_in_itself_is_not_shown() -> None:
    assert shown({"context": {}, "schema_json": {}, "colour": "red"}) == {"colour": "red"}
