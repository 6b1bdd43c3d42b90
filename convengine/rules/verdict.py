"""What the test of one rule says."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from convengine.domain.text import excerpt

Json = Any

#: Reasons why a rule that was tested did not hold.
NOT_MET = "TYPE_CONDITION_NOT_MET"
NO_MATCHER = "TYPE_RESOLVER_MISSING"
ROW_INVALID = "CONFIG_ROW_INVALID"
MATCHER_FAILED = "TYPE_RESOLVER_FAILED"
_SHOWN = 200


class Verdict(NamedTuple):
    """Whether a rule's condition holds, why not, and the values compared: {path, value, op, literal, result}."""

    matched: bool
    reason: str | None = None
    operands: tuple[Mapping[str, Json], ...] = ()


def verdict(matched: bool, operands: tuple[Mapping[str, Json], ...] = ()) -> Verdict:
    """The verdict of a condition that could be tested."""
    return Verdict(matched, None if matched else NOT_MET, operands)


def text_verdict(target: str, text: str | None, op: str, pattern: str | None, matched: bool) -> Verdict:
    """The verdict of a pattern on a text."""
    shown = None if text is None else excerpt(text, _SHOWN)
    return verdict(matched, ({"path": target, "value": shown, "op": op, "literal": pattern, "result": matched},))
