"""Masking what must not be written down (settings 2.11, REDACT_KEYS)."""

from collections.abc import Collection
from typing import Any

MASK = "***"


def redacted(value: Any, keys: Collection[str]) -> Any:
    """The value with everything under one of `keys` (lower case, compared in any case) replaced by a mask."""
    if isinstance(value, dict):
        return {
            name: MASK if str(name).lower() in keys and item is not None else redacted(item, keys)
            for name, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [redacted(item, keys) for item in value]
    return value


def mentions(text: str, keys: Collection[str]) -> bool:
    """True when a JSON text may hold one of the keys: the cheap test before the walk."""
    if not keys:
        return False
    lowered = text.lower()
    return any(f'"{key}"' in lowered for key in keys)
