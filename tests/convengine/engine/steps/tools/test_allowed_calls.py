from collections.abc import Mapping
from typing import Any

import pytest

from convengine.engine.steps.tools.allowed_calls import find_refusal
from convengine.engine.steps.tools.plan import START
from convengine.engine.turn.codec import dumps
from tests.builders import make_config, make_session, make_snapshot, make_turn


def is_refused(allowed: Mapping[str, Any], current: str, following: str | None, *, closed: bool = False) -> bool:
    turn = make_turn(
        make_snapshot(
            make_config("McpToolStep/GUARDRAIL_ENABLED", "true"),
            make_config("McpToolStep/GUARDRAIL_FAIL_CLOSED", str(closed)),
            make_config("McpToolStep/ALLOWED_NEXT", dumps(allowed)),
        )
    )
    return find_refusal(make_session(), turn, current, following) is not None


@pytest.mark.parametrize(
    ("allowed", "current", "following", "wanted"),
    [
        ({}, START, "a", False),
        ({START: ["a"]}, START, "a", False),
        ({START: [" A "]}, START, "a", False),
        ({START: ["a"]}, START, "b", True),
        ({START: ["a"]}, "a", "b", False),
        ({START: []}, START, "b", False),
        ({"ORDER.STATUS": ["b"]}, "order.status", "c", True),
        ({"order.*": ["b"]}, "order.status", "c", True),
        ({"order.*": ["order.*"]}, "order.status", "order.trace", False),
        ({"*": ["*"]}, "x", "y", False),
        ({START: ["a[b]"]}, START, "a[b]", False),
        ({START: ["a?"]}, START, "ab", True),
        ({START: ["a"]}, START, " ", True),
        ({START: ["a"]}, START, None, True),
    ],
)
def test_what_may_follow(allowed: Mapping[str, Any], current: str, following: str | None, wanted: bool) -> None:
    assert is_refused(allowed, current, following) is wanted


def test_what_nothing_is_said_of_is_allowed_unless_closed() -> None:
    assert is_refused({}, "a", "b", closed=True)
    assert not is_refused({"a": ["b"]}, "a", "b", closed=True)


def test_switched_off_nothing_is_refused() -> None:
    assert find_refusal(make_session(), make_turn(), START, None) is None
