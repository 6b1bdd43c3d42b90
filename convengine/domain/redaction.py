"""Masking what must not be written down (settings 2.11, REDACT_KEYS)."""

import json
from collections.abc import Set
from functools import cache
from typing import Any

import re2

MASK = "***"


def redacted(value: Any, keys: Set[str], spared: Set[str] = frozenset()) -> Any:
    """The value with everything under one of `keys` (lower case, compared in any case) replaced by a mask.

    A name may be a JSON pointer, as where the trail tells what changed: then each of its parts is a name. `spared`
    are names of a structure that readers need: what stands under them is looked into, and never masked as a whole.
    """
    if isinstance(value, dict):
        return {name: _of_name(str(name), item, keys, spared) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [redacted(item, keys, spared) for item in value]
    return value


def _of_name(name: str, item: Any, keys: Set[str], spared: Set[str]) -> Any:
    if name in spared:
        return redacted(item, keys, spared)
    return MASK if item is not None and _named(name.lower(), keys) else redacted(item, keys)


def _named(name: str, keys: Set[str]) -> bool:
    if name in keys:
        return True
    parts = name.split("/") if "/" in name else ()
    return any(part in keys or part.replace("~1", "/").replace("~0", "~") in keys for part in parts)


def mentions(text: str, keys: Set[str]) -> bool:
    """True when a JSON text may hold one of the keys: the cheap test before the walk."""
    return bool(keys) and _any_of(frozenset(keys)).search(text) is not None


@cache
def _any_of(keys: frozenset[str]) -> Any:
    """Finds in a JSON text, in one go and in any case, one of the keys as a name or as a part of a pointer."""
    pointers = {key.replace("~", "~0").replace("/", "~1") for key in keys}
    options = re2.Options()
    options.case_sensitive = False
    needles = sorted(json.dumps(key, ensure_ascii=False)[1:-1] for key in keys | pointers)
    return re2.compile("|".join(map(re2.escape, needles)), options)
