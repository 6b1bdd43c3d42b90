"""Responses and names of a project as texts and names of ours: slots in braces become templates."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from config_admin.tables.output_schema import RESERVED
from convengine.files import Unreadable
from convengine.files.json_text import read_json

_SLOT = re.compile(r"\{([A-Za-z_][\w.-]*)\}")
#: What would begin a part of a template.
_OPENING = re.compile(r"\{[{%#]")
#: `/inform{"size": "large"}`; a template doubles the braces of a payload.
_PAYLOAD = re.compile(r"/\w[\w/]*(\{.*\})", re.DOTALL)
#: Maximum characters of a question and of an answer.
_LONGEST_QUESTION, _LONGEST_ANSWER = 1000, 4000
#: Parts of a variation that say when it holds.
_CONDITIONS = frozenset({"condition", "channel"})
#: Parts of a response that a text cannot have.
_RICH_PARTS = ("image", "attachment", "custom", "elements")


@dataclass(frozen=True)
class Text:
    """A template, the names that no field of its flow gives it, and what it leaves out of the response."""

    template: str
    unset: Sequence[str] = ()
    losses: Sequence[str] = ()


def write_text(variations: Sequence[Mapping[str, Any]], fields: Mapping[str, str], *, asks: bool = False) -> Text:
    """The text of a response. `fields`: the fields of the flow by slot. `asks`: its buttons became choices."""
    first = min(variations, key=lambda each: (not each.get("text"), not _CONDITIONS.isdisjoint(each)), default={})
    text = str(first.get("text", "")).strip()
    names = {slot: fields.get(slot) or f"context.{name_field(slot)}" for slot in _SLOT.findall(text)}
    unset = [slot for slot in names if slot not in fields]
    rich = [part for part in _RICH_PARTS if any(part in each for each in variations)]
    rich += first.get("left_out", ())
    losses = {
        f"the first of {len(variations)} variations": len(variations) > 1,
        f"without {', '.join(rich)}": rich,
        "without buttons: users type": first.get("buttons") and not asks,
        f"its text reads {', '.join(unset)}, which code has to set": unset,
    }
    escaped = _OPENING.sub(lambda opening: f'{{{{ "{opening[0]}" }}}}', text)
    template = _SLOT.sub(lambda slot: f"{{{{ {names[slot[1]]} }}}}", escaped)
    most = _LONGEST_QUESTION if asks else _LONGEST_ANSWER
    if len(template) > most:
        return Text("", losses=[f"its text has more than {most} characters"])
    return Text(template, unset, [loss for loss, holds in losses.items() if holds])


def list_buttons(variations: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The titles of the buttons of a question, by the values that they give."""
    buttons = {}
    for button in (button for each in variations for button in each.get("buttons") or ()):
        payload = _PAYLOAD.fullmatch(button.get("payload", "").replace("{{", "{").replace("}}", "}"))
        try:
            values = read_json(payload[1]) if payload else None
        except Unreadable:
            continue
        if isinstance(values, dict) and len(values) == 1:
            [value] = values.values()
            buttons[str(value)] = str(button.get("title") or value)
    return buttons


def name_field(slot: str) -> str:
    """The field of a slot. The engine reserves some names."""
    name = re.sub(r"\W", "_", slot, flags=re.ASCII)
    name = name if name[:1].isalpha() else f"f{name}"
    return (f"{name}_value" if name in RESERVED else name)[:60]


def name_title(name: str) -> str:
    """`hire_boat` as a title: Hire boat."""
    words = " ".join(re.findall(r"[^\W_]+", name)) or name
    return f"{words[:1].upper()}{words[1:]}"[:200]


def name_code(name: str) -> str:
    """The code of an intent: `faq/ask_hours` gives FAQ_ASK_HOURS."""
    code = re.sub(r"[^A-Z0-9]+", "_", name.upper()).strip("_")
    return (code if code[:1].isalpha() else f"INTENT_{code}")[:60]
