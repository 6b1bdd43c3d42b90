import pytest

from convengine.engine.rules.matchers import regex
from convengine.engine.rules.verdict import NOT_MET, ROW_INVALID
from tests.builders import make_rule


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
    assert regex.match_regex(make_rule(match_pattern=pattern), text).matched is expected


def test_P2_7_6_V4_a_broken_pattern_never_holds() -> None:
    assert regex.match_regex(make_rule(match_pattern="("), "(").reason == ROW_INVALID


def test_the_text_that_was_searched_is_kept_short() -> None:
    verdict = regex.match_regex(make_rule(match_pattern="z"), "a" * 1000)

    assert verdict.reason == NOT_MET
    assert len(verdict.operands[0]["value"]) == 200
