"""Responses and names of a project as texts and names of ours: slots in braces become templates."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from config_admin.tables.output_schema import RESERVED
from convengine.engine.text.compare import fold
from convengine.engine.text.several_texts import OR, split_texts
from convengine.files import Unreadable
from convengine.files.json_text import read_json

#: A slot in a text, whose name is its group.
SLOT = re.compile(r"\{([^\W\d][\w.-]*)\}")
#: What would begin a part of a template.
_OPENING = re.compile(r"\{[{%#]")
#: `/inform{"size": "large"}` or `/affirm`; a template doubles the braces of a payload.
_PAYLOAD = re.compile(r"/(\w[^{]*)(\{.*\})?", re.DOTALL)
#: Maximum characters of a question and of an answer.
_LONGEST_QUESTION, _LONGEST_ANSWER = 1000, 4000
#: Parts of a variation that say when it holds.
_CONDITIONS = frozenset({"condition", "channel"})
#: Parts of a response that a text cannot have.
_RICH_PARTS = ("image", "attachment", "custom", "elements")
QUICK_REPLIES = "quick replies"


@dataclass(frozen=True)
class Text:
    """A template, the names that no field of its flow gives it, and what it leaves out of the response."""

    template: str
    unset: Sequence[str] = ()
    losses: Sequence[str] = ()


@dataclass(frozen=True)
class Button:
    """The title of a button, and what it sends: an intent with values, or a text."""

    title: str
    intent: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)
    text: str = ""


def read_buttons(variation: Mapping[str, Any]) -> Iterator[Button]:
    """The buttons of a variation. Those with a link or with unreadable values send nothing."""
    for button in variation.get("buttons") or ():
        sent, title = button.get("payload", "").replace("{{", "{").replace("}}", "}").strip(), button.get("title")
        payload = _PAYLOAD.fullmatch(sent)
        try:
            values = read_json(payload[2]) if payload and payload[2] else {}
        except Unreadable:
            values = None
        if not isinstance(values, dict) or (not payload and "://" in sent):
            yield Button(str(title or sent))
            continue
        intent, text = (payload[1].strip(), "") if payload else ("", sent)
        yield Button(str(title or next(map(str, values.values()), text or intent)), intent, values, text)


def write_text(variations: Sequence[Mapping[str, Any]], fields: Mapping[str, str], *, asks: bool = False) -> Text:
    """The texts of a response. `fields`: the fields of the flow by slot. `asks`: its buttons became choices."""
    chosen, most = _choose_variations(variations, asks), _LONGEST_QUESTION if asks else _LONGEST_ANSWER
    written = (text for each in chosen for text in (each["text"], *chain(*each.get("messages", {}).items())))
    slots = dict.fromkeys(slot for text in written for slot in SLOT.findall(text))
    unset = [slot for slot in slots if slot not in fields]
    texts = _limit_length(
        [_write_template(each["text"].strip(), fields) + _write_buttons(each, fields) for each in chosen], most
    )
    template = OR.join(texts)
    if len(template) > most:
        return Text("", losses=[f"its text has more than {most} characters"])
    rich = _list_rich_parts(variations, chosen)
    silent = [title for each in chosen for title, message in each.get("messages", {}).items() if not message]
    losses = {
        f"{len(texts)} of {len(variations)} variations": 0 < len(texts) < len(variations),
        f"without {', '.join(rich)}": rich,
        f"without buttons: {', '.join(silent)}": silent,
        f"its text reads {', '.join(unset)}, which code has to set": unset,
    }
    return Text(template, unset, [loss for loss, holds in losses.items() if holds])


def _choose_variations(variations: Sequence[Mapping[str, Any]], asks: bool) -> Sequence[Mapping[str, Any]]:
    """Those with a text that always hold, else the first with a text. The choices of a question are those of each."""
    written = [each for each in variations if each.get("text", "").strip()]
    chosen = [each for each in written if _CONDITIONS.isdisjoint(each)] or written[:1]
    buttons = [each["buttons"] for each in chosen if each.get("buttons")]
    return chosen[:1] if asks and any(each != buttons[0] for each in buttons) else chosen


def _write_buttons(variation: Mapping[str, Any], fields: Mapping[str, str]) -> str:
    """The template calls that show the buttons of an answer, each with the message that it sends."""
    sent = [(title, message) for title, message in variation.get("messages", {}).items() if message]
    calls = (", ".join(_write_expression(text, fields) for text in dict.fromkeys(pair)) for pair in sent)
    return "".join(f"\n{{{{ button({call}) }}}}" for call in calls)


def _write_expression(text: str, fields: Mapping[str, str]) -> str:
    """A text with slots as an expression of a template."""
    parts = enumerate(SLOT.split(text))
    written = ((_name_slot(part, fields) if at % 2 else json.dumps(part, ensure_ascii=False)) for at, part in parts)
    return " ~ ".join(part for part in written if part != '""')


def _list_rich_parts(variations: Sequence[Mapping[str, Any]], chosen: Sequence[Mapping[str, Any]]) -> list[str]:
    parts = [part for part in _RICH_PARTS if any(part in each for each in variations)]
    return [*parts, *dict.fromkeys(part for each in chosen for part in each.get("left_out", ()))]


def _write_template(text: str, fields: Mapping[str, str]) -> str:
    escaped = _OPENING.sub(lambda opening: f'{{{{ "{opening[0]}" }}}}', text)
    return SLOT.sub(lambda slot: f"{{{{ {_name_slot(slot[1], fields)} }}}}", escaped)


def _name_slot(slot: str, fields: Mapping[str, str]) -> str:
    return fields.get(slot) or f"context.{name_field(slot)}"


def write_in_sequence(templates: Sequence[str], *, asks: bool = False) -> str:
    """A template that says others one after the other. Each of their texts is in one of its texts, if they fit."""
    parts = [split_texts(template) for template in templates if template]
    count = max(map(len, parts), default=0)
    texts = ["\n\n".join(part[number % len(part)] for part in parts) for number in range(count)]
    return OR.join(_limit_length(texts, _LONGEST_QUESTION if asks else _LONGEST_ANSWER))


def _limit_length(texts: Sequence[str], most: int) -> Sequence[str]:
    """The first texts that fit into one template; at least the first one."""
    while len(texts) > 1 and len(OR.join(texts)) > most:
        texts = texts[:-1]
    return texts


def list_buttons(variations: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The titles of the buttons of a question, by the values, intents (`/affirm`) or texts that they send."""
    buttons = {}
    for button in (button for each in variations for button in read_buttons(each)):
        sent = [*button.values.values()] or [button.text or f"/{button.intent}"]
        if len(sent) == 1 and sent != ["/"]:
            buttons[str(sent[0])] = button.title
    return buttons


def name_field(slot: str) -> str:
    """The field of a slot. The engine reserves some names."""
    name = re.sub(r"\W", "_", _spell(slot))
    name = name if name[:1].isalpha() else f"f{name}"
    return (f"{name}_value" if name in RESERVED else name)[:60]


def _spell(name: str) -> str:
    """The name in ASCII: without accents, and other letters in Punycode."""
    plain = name if name.isascii() else fold(name)
    return plain if plain.isascii() else plain.encode("punycode").decode()


def name_title(name: str) -> str:
    """`hire_boat` as a title: Hire boat."""
    words = " ".join(re.findall(r"[^\W_]+", name)) or name
    return f"{words[:1].upper()}{words[1:]}"[:200]


def name_code(name: str) -> str:
    """The code of an intent: `faq/ask_hours` gives FAQ_ASK_HOURS."""
    code = re.sub(r"[^A-Z0-9]+", "_", _spell(name).upper()).strip("_")
    return (code if code[:1].isalpha() else f"INTENT_{code}")[:60]
