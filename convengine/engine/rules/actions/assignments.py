"""`key:value`, or the same in JSON: the grammar that SET_INPUT_PARAM and SET_CONTEXT share (pipeline-2 7.4)."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from convengine.engine.rules.actions.contract import ActionValueError

Json = Any


def read_assignments(
    text: str, usage: str, key: Callable[[str], str], read: Callable[[str], Json], *, bare: bool
) -> Mapping[str, Json]:
    """The names and values that a text assigns.

    A JSON list of {key, value}; a JSON object with `key`; any other JSON object, one member each; `key:value`; with
    `bare` also `key` alone, which is true. `key` checks a name, `read` reads the part after the colon. Raises
    ActionValueError with `usage`.
    """
    if text[0] in "[{":
        return {key(name): value for name, value in _from_json(text, usage).items()}
    name, colon, value = text.partition(":")
    if not colon and not bare:
        raise ActionValueError(usage)
    return {key(name): read(value) if colon else True}


def _from_json(text: str, usage: str) -> Mapping[str, Json]:
    try:
        document = json.loads(text)
    except ValueError:
        raise ActionValueError(usage) from None
    if isinstance(document, dict) and "key" not in document:
        found = document
    else:
        entries = document if isinstance(document, list) else [document]
        if not all(isinstance(entry, dict) and isinstance(entry.get("key"), str) for entry in entries):
            raise ActionValueError(usage)
        found = {entry["key"]: entry.get("value") for entry in entries}
    if not found:
        raise ActionValueError(usage)
    return found
