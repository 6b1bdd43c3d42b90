"""Mask values by their key (settings 2.11, REDACT_KEYS)."""

import json
from collections.abc import Set
from functools import cache
from typing import Any

import re2

MASK = "***"


def redact(value: Any, keys: Set[str], spared: Set[str] = frozenset()) -> Any:
    """The value with everything under one of `keys` (lower case, compared in any case) replaced by a mask.

    A key may be a JSON pointer, as in recorded changes; then each of its parts is a key. `spared` are structural keys
    that readers need: their values are searched, and never masked as a whole.
    """
    if isinstance(value, dict):
        return {name: _redact_member(str(name), item, keys, spared) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [redact(item, keys, spared) for item in value]
    return value


def _redact_member(name: str, item: Any, keys: Set[str], spared: Set[str]) -> Any:
    if name in spared:
        return redact(item, keys, spared)
    return MASK if item is not None and _is_masked_name(name.lower(), keys) else redact(item, keys)


def _is_masked_name(name: str, keys: Set[str]) -> bool:
    if name in keys:
        return True
    parts = name.split("/") if "/" in name else ()
    return any(part in keys or part.replace("~1", "/").replace("~0", "~") in keys for part in parts)


def may_mention(text: str, keys: Set[str]) -> bool:
    """True when a JSON text may hold one of the keys: a cheap test before the walk."""
    return bool(keys) and _compile_names(frozenset(keys)).search(text) is not None


@cache
def _compile_names(keys: frozenset[str]) -> Any:
    """A pattern that finds, in any case, one of the keys in a JSON text as a key or as a part of a pointer."""
    pointers = {key.replace("~", "~0").replace("/", "~1") for key in keys}
    options = re2.Options()
    options.case_sensitive = False
    needles = sorted(json.dumps(key, ensure_ascii=False)[1:-1] for key in keys | pointers)
    return re2.compile("|".join(map(re2.escape, needles)), options)
