"""Whatever the templates of a language say is read without a fault: a reader that lacks a slot would fail a turn."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from importlib import resources
from random import Random
from typing import Any

import pytest

from convengine.engine.understanding.language import list_languages
from convengine.evaluation.read import CorpusReader

FOLDER = resources.files("convengine.engine.understanding") / "languages"
#: For each field the sorts of templates that are said to it.
SAID = {
    "day": ("date", "day", "zoned"), "time": ("clock", "marked_clock"), "start": ("moment", "zoned", "date"),
    "length": ("length",), "count": ("number",),
}  # fmt: skip
FORM = {
    "type": "object",
    "title": "Visit",
    "properties": {
        "day": {"title": "Day", "type": "string", "format": "date"},
        "time": {"title": "Time", "type": "string", "format": "time"},
        "start": {"title": "Start", "type": "string", "format": "date-time"},
        "length": {"title": "Length", "type": "string", "format": "duration"},
        "count": {"title": "Count", "type": "integer"},
    },
}
#: Words of the classes that are read by code.
READ = {
    "day_number": "28", "month_number": "2", "hour": "20", "zone_hour": "3", "two_digits": "15", "early_hour": "09",
    "minute": "45", "year": "2027", "short_year": "27", "joined_time": "1630", "numeral": "3", "decimal": "1.5",
    "digits": "12",
}  # fmt: skip
MESSAGES, DEEPEST = 150, 7


class Speaker:
    def __init__(self, language: str) -> None:
        self._templates: dict[str, list[Mapping[str, Any]]] = {}
        self._words: dict[str, list[str]] = {}
        self._random = Random(71)
        for name in ("calendar", "numbers", "words"):
            table = tomllib.loads((FOLDER / language / f"{name}.toml").read_text("utf-8"))
            for row in table.pop("values", ()):
                self._words.setdefault(row["class"], []).extend(
                    str(word) for words in row["words"] for word in words[1:]
                )
            for key, words in table.pop("classes", {}).items():
                self._words.setdefault(key, []).extend(words)
            for key, listed in table.items():
                if isinstance(listed, Sequence) and listed and isinstance(listed[0], Mapping):
                    self._templates.setdefault(key, []).extend(listed)

    def say(self, sort: str, depth: int = 0) -> str:
        """A text of a sort or class; blank for one that the tables do not list."""
        name = sort if sort in self._templates or sort in self._words else re.sub(r"_\d$", "", sort)
        if name in self._templates and depth < DEEPEST:
            return self._fill(self._random.choice(self._random.choice(self._templates[name])["text"]), depth)
        return READ.get(name) or (self._random.choice(self._words[name]) if self._words.get(name) else "")

    def _fill(self, template: str, depth: int) -> str:
        while optional := re.search(r"\[([^\[\]]*)\]", template):
            chosen = optional[1] if self._random.random() < 0.5 else ""
            template = template[: optional.start()] + chosen + template[optional.end() :]
        text = ""
        for part in template.split():
            choice = self._random.choice(part.split("|"))
            word = choice.lstrip("~")
            said = self.say(word.strip("{}"), depth + 1) if word.startswith("{") else word.replace("_", " ")
            text += said if choice.startswith("~") else f" {said}"
        return text.strip()


@pytest.mark.parametrize("language", list_languages())
def test_every_template_is_read(language: str) -> None:
    reader, speaker, faults = CorpusReader({}), Speaker(language), dict[str, str]()
    for number in range(MESSAGES):
        asked = [*SAID][number % len(SAID)]
        for sort in SAID[asked]:
            text = f"{speaker.say(sort)} {speaker.say('range') if number % 3 else ''} {speaker.say(sort)}"
            line = {"form": FORM, "asked": asked, "say": text, "locale": language, "now": "2026-11-24T10:00:00+01:00"}
            try:
                reader.read(line)
            except (LookupError, RuntimeError, StopIteration, TypeError, ValueError) as error:
                faults[repr(error)] = text
    assert not faults
