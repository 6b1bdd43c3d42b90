"""The result of testing one rule."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from convengine.engine.text.compare import shorten

Json = Any

#: Reasons why a tested rule did not hold.
NOT_MET = "TYPE_CONDITION_NOT_MET"
NO_MATCHER = "TYPE_RESOLVER_MISSING"
ROW_INVALID = "CONFIG_ROW_INVALID"
MATCHER_FAILED = "TYPE_RESOLVER_FAILED"
_SHOWN = 200


class Verdict(NamedTuple):
    """Whether a rule's condition holds, why not, and the compared values.

    An operand is {path, value, op, literal, result}, with `literalPath` if the right side is a path too.
    """

    matched: bool
    reason: str | None = None
    operands: tuple[Mapping[str, Json], ...] = ()


def build_verdict(matched: bool, operands: tuple[Mapping[str, Json], ...] = ()) -> Verdict:
    """The verdict of a testable condition."""
    return Verdict(matched, None if matched else NOT_MET, operands)


def build_text_verdict(target: str, text: str | None, op: str, pattern: str | None, matched: bool) -> Verdict:
    """The verdict of a pattern on a text."""
    shown = None if text is None else shorten(text, _SHOWN)
    return build_verdict(matched, ({"path": target, "value": shown, "op": op, "literal": pattern, "result": matched},))
