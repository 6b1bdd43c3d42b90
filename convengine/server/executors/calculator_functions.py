"""The functions of expressions, and the conversion of numbers and texts."""

from collections.abc import Callable, Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_UP, Decimal, InvalidOperation
from typing import Any

from convengine.engine.steps.tools.fault import ToolFault

Json = Any
INVALID = "EXPRESSION_INVALID"
LONGEST_TEXT = 10_000


def number(value: Json) -> Any:
    """Numbers, and texts that are numbers, as decimals; others unchanged."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return Decimal(str(value))
    if isinstance(value, str) and 0 < len(value) <= 40:
        try:
            made = Decimal(value.strip().replace("_", "x"))
        except InvalidOperation:
            return value
        return made if made.is_finite() else value
    return value


def as_json(value: Any) -> Json:
    """A value as JSON: a whole decimal becomes an integer."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() and abs(value) < 10**18 else float(value)
    return [as_json(part) for part in value] if isinstance(value, list) else value


def _round(value: Decimal, digits: Decimal = Decimal(0)) -> Decimal:
    return value.quantize(Decimal(1).scaleb(-int(digits)), ROUND_HALF_UP)


def _numbers(values: tuple[Any, ...]) -> list[Decimal]:
    listed = values[0] if len(values) == 1 and isinstance(values[0], list) else values
    found = [number(value) for value in listed]
    if not found or not all(isinstance(value, Decimal) for value in found):
        raise ToolFault(INVALID, "This needs numbers.")
    return found


def _format(value: Decimal, digits: Decimal = Decimal(2)) -> str:
    return f"{_round(value, digits):,.{min(int(digits), 20)}f}"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else str(as_json(value))


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "abs": abs,
    "round": _round,
    "floor": lambda value: value.to_integral_value(ROUND_FLOOR),
    "ceil": lambda value: value.to_integral_value(ROUND_CEILING),
    "sqrt": lambda value: value.sqrt(),
    "min": lambda *values: min(_numbers(values)),
    "max": lambda *values: max(_numbers(values)),
    "sum": lambda *values: sum(_numbers(values), Decimal(0)),
    "avg": lambda *values: sum(_numbers(values), Decimal(0)) / len(_numbers(values)),
    "count": lambda values: Decimal(len(values)),
    "number": lambda value: Decimal(str(value).strip().replace(",", "").replace("_", "x")),
    "text": _text,
    "format": _format,
    "upper": lambda value: _text(value).upper(),
    "lower": lambda value: _text(value).lower(),
    "trim": lambda value: _text(value).strip(),
    "replace": lambda value, old, new: _text(value)[:LONGEST_TEXT].replace(old, new) if old else _text(value),
    "concat": lambda *values: "".join(_text(value) for value in values),
}
