"""Parse JSON texts of people strictly: no duplicate keys, no NaN, no very long numbers, no deep nesting."""

import json
from collections.abc import Sequence
from math import isfinite

from convengine.engine.text.compare import storable
from convengine.engine.turn.codec import MAX_DEPTH, TOO_DEEP, is_too_deep
from convengine.files import Unreadable
from convengine.json_value import Json

#: Maximum digits of a whole number: parsing takes time that grows with their square.
MAX_DIGITS = 1000


def read_json(text: str, depth: int = MAX_DEPTH) -> Json:
    """The value of a JSON text. Raises Unreadable."""
    try:
        value = json.loads(
            text,
            object_pairs_hook=_build_object,
            parse_constant=_refuse_constant,
            parse_int=_parse_integer,
            parse_float=_parse_float,
        )
    except RecursionError:
        raise Unreadable(TOO_DEEP) from None
    except json.JSONDecodeError as error:
        raise Unreadable(error.msg, error.lineno, error.colno) from None
    if is_too_deep(value, depth):
        raise Unreadable(TOO_DEEP)
    return value


def read_json_or(text: str, otherwise: Json) -> Json:
    """The value of a JSON text. Returns `otherwise` if the text is not valid JSON."""
    try:
        return read_json(text)
    except Unreadable:
        return otherwise


def _parse_integer(text: str) -> int:
    if len(text) > MAX_DIGITS:
        raise Unreadable(f"{text[:20]}… is a number with more than {MAX_DIGITS} digits.")
    return int(text)


def _parse_float(text: str) -> float:
    if not isfinite(number := float(text)):
        _refuse_constant(text if len(text) <= 20 else f"{text[:20]}…")
    return number


def _build_object(pairs: Sequence[tuple[str, Json]]) -> dict[str, Json]:
    """An object of JSON. Raises Unreadable for a key that occurs twice or cannot be stored."""
    document = dict(pairs)
    if len(document) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise Unreadable(f"the key {twice!r} occurs twice in one object.")
    if strange := next((name for name in document if storable(name) != name), None):
        raise Unreadable(
            f"the key {strange!r} contains characters that cannot be stored (NUL or half of a surrogate pair)."
        )
    return document


def _refuse_constant(name: str) -> Json:
    raise Unreadable(f"{name} is not a JSON value.")
