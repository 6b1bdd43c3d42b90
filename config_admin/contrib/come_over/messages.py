"""Messages of Dialogflow as the variations of a response: `$size` and `#order.size` become `{size}`."""

import json
import re
from collections.abc import Collection, Sequence
from typing import Any

from config_admin.contrib.come_over.project import Mapped
from config_admin.contrib.come_over.texts import QUICK_REPLIES

_REFERENCE = re.compile(r"([$#])([A-Za-z_][\w-]*)((?:\.[A-Za-z_][\w-]*)*)")
_TEXTS = frozenset({"0", "simple_response"})
#: What other messages are, by the numbers of their types.
_TYPES = {"1": "card", "2": QUICK_REPLIES, "3": "image", "4": "payload"}


def write_variations(messages: Sequence[Mapped], slots: Collection[str]) -> list[dict[str, Any]]:
    """The variations, each with what it leaves out. A channel's own messages count if there are no others."""
    general = [message for message in messages if not message.get("platform")] or messages
    texts = [texts for message in general if (texts := _list_texts(message))]
    left_out = dict.fromkeys(filter(None, (_describe_rich(message, general) for message in messages)))
    # Several messages follow each other.
    count = max(map(len, texts), default=bool(left_out))
    joined = ("\n\n".join(each[min(number, len(each) - 1)] for each in texts) for number in range(count))
    replies = list(dict.fromkeys(reply for message in messages for reply in message.get("replies") or ()))
    return [{"text": _write_slots(text, slots), "left_out": list(left_out), "replies": replies} for text in joined]


def add_buttons(variations: Sequence[Mapped], slot: str, values: Sequence[str]) -> Sequence[Mapped]:
    """The variations with their quick replies as buttons, if these are as many as the values."""
    titles = variations[0]["replies"] if variations else []
    if not titles or len(titles) != len(values):
        return variations
    pairs = zip(titles, values, strict=True)
    buttons = [{"title": title, "payload": f"/x{json.dumps({slot: value})}"} for title, value in pairs]
    return [{**variation, "left_out": (), "buttons": buttons} for variation in variations]


def _list_texts(message: Mapped) -> list[str]:
    speech = message.get("speech") or message.get("textToSpeech") or ()
    return [text for text in ([speech] if isinstance(speech, str) else speech) if text.strip()]


def _describe_rich(message: Mapped, general: Sequence[Mapped]) -> str:
    kind = str(message.get("type", "0"))
    if message not in general:
        return f"messages of {message['platform']}"
    return "" if kind in _TEXTS else _TYPES.get(kind, kind.replace("_", " "))


def _write_slots(text: str, slots: Collection[str]) -> str:
    def write(reference: re.Match[str]) -> str:
        sign, name, rest = reference.groups()
        # `#order.size` names a context first; `$meal.drink` is a part of a composite entity.
        names = [*rest.split(".")[1:]] if sign == "#" else [name, *rest.split(".")[1:]]
        slot = next((each for each in reversed(names) if each in slots), names[0] if sign == "#" and names else "")
        further = "".join(f".{each}" for each in names[names.index(slot) + 1 :] if each != "original") if slot else ""
        return f"{{{slot}}}{further}" if slot else reference[0]

    return _REFERENCE.sub(write, text)
