import pytest

from convengine.engine.rules.matchers import exact
from convengine.engine.rules.verdict import NOT_MET
from tests.builders import make_rule


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
    assert exact.match_exact(make_rule(match_pattern=pattern), text).matched is expected


def test_the_texts_compared_are_kept() -> None:
    verdict = exact.match_exact(make_rule(match_pattern="go"), "stop")

    assert verdict.reason == NOT_MET
    assert verdict.operands == (
        {"path": "USER_TEXT", "value": "stop", "op": "equals", "literal": "go", "result": False},
    )
