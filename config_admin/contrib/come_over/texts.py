"""The responses of a project as texts of ours: slots in braces become templates, variations are counted."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from config_admin.tables.output_schema import RESERVED
from convengine.files import Unreadable
from convengine.files.json_text import read_json

_SLOT = re.compile(r"\{([A-Za-z_][\w.-]*)\}")
#: What would begin a part of a template.
_OPENING = re.compile(r"\{[{%#]")
#: `/inform{"size": "large"}`; where templates read the payload, its braces are doubled.
_PAYLOAD = re.compile(r"^/\w[\w/]*(\{.*\})$", re.DOTALL)
#: Parts of a response that a text cannot have.
_RICH_PARTS = ("image", "attachment", "custom", "elements")


@dataclass
class Text:
    """A template, and what it leaves out of the response."""

    template: str = ""
    #: The values that it reads besides the fields of its flow: code sets them.
    unset: list[str] = field(default_factory=list)
    losses: list[str] = field(default_factory=list)


def write_text(
    variations: Sequence[Mapping[str, Any]], fields: Mapping[str, str], *, is_question: bool = False
) -> Text:
    """The text of a response; `fields` are the fields of the flow by slot. A question keeps buttons as its choices."""
    plain = [each for each in variations if not {"condition", "channel"} & each.keys()]
    first = next((each for each in (*plain, *variations) if each.get("text")), {})
    written, text, end = Text(), str(first.get("text", "")).strip(), 0
    for slot in _SLOT.finditer(text):
        written.template += _escape(text[end : slot.start()])
        name = slot[1]
        if name in fields:
            written.template += f"{{{{ {fields[name]} }}}}"
        else:
            written.template += f"{{{{ context.{name_field(name)} }}}}"
            written.unset.append(name)
        end = slot.end()
    written.template += _escape(text[end:])
    if len(variations) > 1:
        written.losses.append(f"the first of {len(variations)} variations")
    if rich := [part for part in _RICH_PARTS if any(part in each for each in variations)]:
        written.losses.append(f"without {', '.join(rich)}")
    if first.get("buttons") and not is_question:
        written.losses.append("without buttons: users type")
    return written


def _escape(text: str) -> str:
    return _OPENING.sub(lambda opening: f'{{{{ "{opening[0]}" }}}}', text)


def list_buttons(variations: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """The values that the buttons of a question give, each with its title."""
    buttons = list[tuple[str, str]]()
    for button in (button for each in variations for button in each.get("buttons") or ()):
        payload = _PAYLOAD.match(button.get("payload", "").replace("{{", "{").replace("}}", "}"))
        try:
            values = read_json(payload[1]) if payload else None
        except Unreadable:
            continue
        if isinstance(values, dict) and len(values) == 1:
            buttons.append((str(next(iter(values.values()))), str(button.get("title") or "")))
    return buttons


def name_field(slot: str) -> str:
    """The name of the field of a slot. The engine reserves some names."""
    name = re.sub(r"\W", "_", slot, flags=re.ASCII)
    name = name if name[:1].isalpha() else f"f{name}"
    return (f"{name}_value" if name in RESERVED else name)[:60]


def name_title(name: str) -> str:
    """`open_incident` as a title: Open incident."""
    words = " ".join(re.findall(r"[^\W_]+", name)) or name
    return f"{words[:1].upper()}{words[1:]}"[:200]


def name_code(name: str) -> str:
    """The code of an intent: `faq/ask_hours` gives FAQ_ASK_HOURS."""
    code = re.sub(r"[^A-Z0-9]+", "_", name.upper()).strip("_")
    return (code if code[:1].isalpha() else f"INTENT_{code}")[:60]
