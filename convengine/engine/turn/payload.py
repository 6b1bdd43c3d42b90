"""The answer for the user: either a text or a JSON document."""

from dataclasses import dataclass
from typing import Any

#: The keys of an answer that may have its text, the first one first. `to_document` writes `value`; the other keys are
#: those of JSON answers, which templates, models and tasks write.
_TEXT_KEYS = ("text", "value", "json", "output", "question")
#: The same within `data` of a JSON answer.
_DATA_TEXT_KEYS = ("text", "output", "question")


@dataclass(frozen=True)
class TextPayload:
    value: str
    #: The labels of its buttons, each with the message that it sends.
    buttons: tuple[tuple[str, str], ...] = ()
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
    """What the user read of a stored answer: in prompts, in `reply` of the API and of webhooks, and in search.

    Blank if it has no text.
    """
    if isinstance(document, str):
        return document
    if not isinstance(document, dict):
        return ""
    for part, keys in ((document, _TEXT_KEYS), (document.get("data"), _DATA_TEXT_KEYS)):
        texts = [part.get(key) for key in keys] if isinstance(part, dict) else []
        for text in texts:
            if isinstance(text, str) and text.strip():
                return text
    return ""
