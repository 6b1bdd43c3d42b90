from convengine.engine.rules.verdict import NOT_MET, build_text_verdict, build_verdict


def test_a_condition_that_held_needs_no_reason() -> None:
    assert build_verdict(True).reason is None
    assert build_verdict(False).reason == NOT_MET


def test_a_text_is_shown_short_and_null_as_null() -> None:
    assert len(build_text_verdict("USER_TEXT", "x" * 999, "=~", "y", False).operands[0]["value"]) == 200
    assert build_text_verdict("USER_TEXT", None, "=~", "y", False).operands[0]["value"] is None
