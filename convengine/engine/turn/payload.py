"""The answer for the user: either a text or a JSON document."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class TextPayload:
    """A plain text."""

    value: str
    type = "TEXT"


@dataclass(frozen=True)
class JsonPayload:
    """A JSON document. A text that was meant to be JSON and does not parse stays a text."""

    value: Any
    type = "JSON"


Payload = TextPayload | JsonPayload


def to_document(payload: Payload) -> Any:
    """The payload for `last_assistant_json`."""
    if isinstance(payload, TextPayload):
        return {"type": "TEXT", "value": payload.value}
    if isinstance(payload.value, (dict, list)):
        return payload.value
    return {"type": "JSON_TEXT", "value": payload.value}


def to_spoken_text(document: Any) -> str:
    """The assistant's text in a stored answer, for prompts; blank if the answer has none."""
    if isinstance(document, str):
        return document
    if not isinstance(document, dict):
        return ""
    for key in ("text", "value", "json", "output", "question"):
        if isinstance(text := document.get(key), str) and text.strip():
            return text
    nested = document.get("data")
    for key in ("text", "output", "question"):
        if isinstance(nested, dict) and isinstance(text := nested.get(key), str) and text.strip():
            return text
    return ""
