"""Masking what must not be written down (settings 2.11, REDACT_KEYS)."""

from collections.abc import Set
from typing import Any

MASK = "***"


def redacted(value: Any, keys: Set[str]) -> Any:
    """The value with everything under one of `keys` (lower case, compared in any case) replaced by a mask.

    A name may be a JSON pointer, as where the trail tells what changed: then each of its parts is a name.
    """
    if isinstance(value, dict):
        return {
            name: MASK if item is not None and _named(str(name).lower(), keys) else redacted(item, keys)
            for name, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [redacted(item, keys) for item in value]
    return value


def _named(name: str, keys: Set[str]) -> bool:
    return name in keys or ("/" in name and not keys.isdisjoint(name.split("/")))


def mentions(text: str, keys: Set[str]) -> bool:
    """True when a JSON text may hold one of the keys: the cheap test before the walk."""
    if not keys:
        return False
    lowered = text.lower()
    return any(key in lowered for key in keys)
