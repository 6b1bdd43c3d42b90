from typing import Any

import pytest

from convengine.engine.rules.conditions import rule as rule_module
from convengine.engine.rules.conditions.rule import custom_matchers, evaluate_rule, find_fault, rule_matcher
from convengine.engine.rules.verdict import MATCHER_FAILED, NO_MATCHER, NOT_MET, ROW_INVALID, Verdict
from convengine.engine.turn.session import Session
from tests.builders import make_rule, make_session
from tests.convengine.engine.rules.conditions.judge import judge_path


@pytest.fixture
def _own_matchers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rule_module, "_custom", {})


def judge_text(kind: str, pattern: str | None, text: str | None) -> Verdict:
    rule = make_rule(rule_type=kind, match_target="USER_TEXT", match_pattern=pattern)
    return evaluate_rule(rule, make_session(user_text=text))


def holds(session: Session, **rule: Any) -> bool:
    return evaluate_rule(make_rule(**rule), session).matched


def test_a_path_looks_at_the_facts_and_a_context_path_at_the_context_alone() -> None:
    session = make_session(intent="LOAN", context={"customerId": "C1", "done": False})

    assert holds(session, rule_type="JSON_PATH", match_pattern="$.context.customerId")
    assert holds(session, rule_type="JSON_PATH", match_pattern="$.intent")
    assert holds(session, rule_type="CONTEXT_JSON_PATH", match_pattern="$.customerId")
    assert not holds(session, rule_type="CONTEXT_JSON_PATH", match_pattern="$.intent")
    assert not holds(session, rule_type="CONTEXT_JSON_PATH", match_pattern="$.done")


@pytest.mark.parametrize(
    ("target", "text"),
    [
        ("USER_TEXT", "and why?"),
        ("RESOLVED_INPUT", "why was it refused?"),
        ("DIALOGUE_ACT", "QUESTION"),
        ("", "and why?"),
    ],
)
def test_the_match_target_is_what_a_text_rule_looks_at(target: str, text: str) -> None:
    session = make_session(
        user_text="and why?", standalone_query="why was it refused?", input_params={"dialogue_act": "QUESTION"}
    )

    assert holds(session, rule_type="exact", match_pattern=text, match_target=target)


def test_an_unknown_target_never_holds() -> None:
    rule = make_rule(match_target="SHOE_SIZE")

    assert evaluate_rule(rule, make_session(user_text="x")).reason == ROW_INVALID
    assert "SHOE_SIZE" in str(find_fault(rule))


def test_an_unknown_type_never_holds() -> None:
    assert evaluate_rule(make_rule(rule_type="TELEPATHY"), make_session(user_text="x")).reason == NO_MATCHER


@pytest.mark.parametrize(
    "row",
    [
        {"rule_type": "REGEX", "match_pattern": "("},
        {"rule_type": "JSON_PATH", "match_pattern": "$.a == 1"},
        {"rule_type": "CONTEXT_JSON_PATH", "match_pattern": " "},
    ],
)
def test_a_row_that_can_never_hold_is_known_with_its_reason(row: dict[str, str]) -> None:
    assert find_fault(make_rule(**row))


def test_a_sound_row_has_no_such_reason() -> None:
    assert find_fault(make_rule(rule_type="REGEX", match_pattern=".*")) is None
    assert find_fault(make_rule(rule_type="JSON_PATH", match_pattern="$.a")) is None


@pytest.mark.usefixtures("_own_matchers")
def test_a_deployment_adds_rule_types() -> None:
    @rule_matcher("weekend")
    def weekend(rule: object, session: Session) -> bool:
        return session.turn_no == 7

    assert list(custom_matchers()) == ["WEEKEND"]
    assert holds(make_session(turn_no=7), rule_type="WEEKEND")
    assert not holds(make_session(turn_no=6), rule_type="WEEKEND")


@pytest.mark.usefixtures("_own_matchers")
def test_a_rule_type_has_one_matcher() -> None:
    for name in ("REGEX", "own"):
        if name == "own":
            rule_matcher("OWN")(lambda rule, session: True)
        with pytest.raises(ValueError, match="already"):
            rule_matcher(name)(lambda rule, session: True)


@pytest.mark.usefixtures("_own_matchers")
def test_a_matcher_that_raises_does_not_hold() -> None:
    rule_matcher("BROKEN")(lambda rule, session: 1 / 0 > 0)
    verdict = evaluate_rule(make_rule(rule_type="BROKEN"), make_session())

    assert verdict.reason == MATCHER_FAILED
    assert "division" in verdict.operands[0]["literal"]


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        pytest.param(" go ahead ", "  Go Ahead ", True, id="P2_7_6_V2"),
        ("ANY", "whatever", True),
        (" any ", "", True),
        ("ANY", None, False),
        ("go", None, False),
        (None, "go", False),
        ("", "", False),
        ("go", "go ahead", False),
    ],
)
def test_trimmed_texts_are_equal_ignoring_case(pattern: str | None, text: str | None, expected: bool) -> None:
    assert judge_text("EXACT", pattern, text).matched is expected


def test_the_texts_compared_are_kept() -> None:
    verdict = judge_text("EXACT", "go", "stop")

    assert verdict.reason == NOT_MET
    assert verdict.operands == (
        {"path": "USER_TEXT", "value": "stop", "op": "equals", "literal": "go", "result": False},
    )


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        pytest.param("loan", "Please process the LOAN", True, id="P2_7_6_V3"),
        (".*", "", True),
        (".*", None, False),
        (None, "x", False),
        (" ", "a b", False),
    ],
)
def test_the_pattern_is_searched_ignoring_case(pattern: str | None, text: str | None, expected: bool) -> None:
    assert judge_text("REGEX", pattern, text).matched is expected


def test_P2_7_6_V4_a_broken_pattern_never_holds() -> None:
    assert judge_text("REGEX", "(", "(").reason == ROW_INVALID


def test_the_text_that_was_searched_is_kept_short() -> None:
    verdict = judge_text("REGEX", "z", "a" * 1000)

    assert verdict.reason == NOT_MET
    assert len(verdict.operands[0]["value"]) == 200


def test_P2_7_6_V5_a_filter_tests_the_facts_themselves() -> None:
    path = "$[?(@.schemaComplete == true)]"

    assert judge_path(path, {"schemaComplete": True}).matched
    assert not judge_path(path, {"schemaComplete": False}).matched


def test_P2_7_6_V6_a_path_that_does_not_parse_never_holds() -> None:
    rule = make_rule(rule_type="JSON_PATH", match_pattern="$.schemaComplete == true")

    assert evaluate_rule(rule, make_session()).reason == ROW_INVALID


def test_a_row_may_say_that_an_empty_leaf_does_not_count() -> None:
    assert not judge_path("$.note", {"note": " "}, null_leaf_matches=False).matched


def test_the_values_compared_are_kept() -> None:
    assert judge_path("$[?(@.n > 5)]", {"n": 3}).operands == (
        {"path": "@.n", "value": 3, "op": ">", "literal": 5, "result": False},
    )
