"""Values of columns in a form that both databases give back, for seals and proofs."""

import uuid
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from convengine.engine.text.compare import storable

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def encode_value(value: Any) -> Any:
    """A column's value as JSON has it, the same from every database."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, datetime):
        return (value - _EPOCH) // _MICROSECOND
    if isinstance(value, Decimal):
        return f"{value:.9f}"
    return str(value) if isinstance(value, uuid.UUID) else value
