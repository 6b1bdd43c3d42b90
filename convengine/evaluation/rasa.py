"""Rasa's files: the examples of `nlu.yml` and the messages of its tests, without marks of entities."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from convengine.evaluation.read import EvaluationError
from convengine.files.json_text import read_json
from convengine.json_value import Json

#: The keys of a document of Rasa. Others than the first two have no messages.
RASA_KEYS = frozenset({"nlu", "stories", "rules", "version", "intents", "pipeline", "policies", "recipe"})
#: Sections of `nlu` besides intents, in words.
_OTHER_SECTIONS = {"regex": "regular expressions", "lookup": "lookup tables"}
#: `[Berlin](city)`, `[Berlin](city:berlin)`, `[Berlin]{"entity": "city", "value": "berlin"}`.
_MARK = re.compile(r"\[(?P<words>[^\[\]]+)\](?:\((?P<entity>[^():]+)(?::(?P<value>[^()]+))?\)|(?P<object>\{[^{}]*\}))")


@dataclass(frozen=True)
class RasaExample:
    """A message with its intent."""

    text: str
    intent: str
    values: Mapping[str, Json] = field(default_factory=dict)
    position: str = ""


def read_rasa(document: Mapping[str, Any]) -> Iterator[RasaExample]:
    """The examples of a document; values in other words are replaced as its synonyms say."""
    sections = [section for section in _list(document.get("nlu")) if isinstance(section, dict)]
    synonyms = {
        text.casefold(): section["synonym"]
        for section in sections
        if "synonym" in section
        for text in _list_examples(section)
    }
    for section in sections:
        if "intent" in section:
            intent = str(section["intent"])
            for number, text in enumerate(_list_examples(section), 1):
                yield replace(_read_marks(text, synonyms), intent=intent, position=f"{intent}, example {number}")
    for story in _list(document.get("stories")):
        if isinstance(story, dict):
            yield from _read_story(story, synonyms)


def count_other_sections(document: Mapping[str, Any]) -> Mapping[str, int]:
    """How many sections hold patterns or lists of words, by what they are called."""
    counts = {
        words: sum(isinstance(section, dict) and key in section for section in _list(document.get("nlu")))
        for key, words in _OTHER_SECTIONS.items()
    }
    return {words: count for words, count in counts.items() if count}


def _read_story(story: Mapping[str, Any], synonyms: Mapping[str, str]) -> Iterator[RasaExample]:
    """The messages of a test; the stories to learn from have intents alone."""
    for step in _list(story.get("steps")):
        if isinstance(step, dict) and isinstance(step.get("user"), str) and "intent" in step:
            example = _read_marks(step["user"].strip(), synonyms)
            yield replace(example, intent=str(step["intent"]), position=f"story {story.get('story', '')}")


def _list_examples(section: Mapping[str, Any]) -> Sequence[str]:
    """The examples of a section, written as a text with a hyphen before each line, or as a list."""
    examples = section.get("examples") or ""
    if isinstance(examples, str):
        lines = (line.strip() for line in examples.splitlines())
        return [text for line in lines if line.startswith("-") and (text := line[1:].strip())]
    texts = (each.get("text") if isinstance(each, dict) else each for each in _list(examples))
    return [text.strip().removeprefix("- ") for text in texts if isinstance(text, str) and text.strip()]


def _read_marks(text: str, synonyms: Mapping[str, str]) -> RasaExample:
    """The message as somebody types it, and the values of its marks."""
    marked: dict[str, list[Json]] = {}
    for mark in _MARK.finditer(text):
        words, about = mark["words"], _read_object(mark["object"], text)
        entity = about.get("role") or about.get("entity") or mark["entity"] or ""
        value = about.get("value") or mark["value"] or synonyms.get(words.casefold(), words)
        # An entity that is marked twice gives both values to its field.
        if (given := marked.setdefault(entity, [])) != [value]:
            given.append(value)
    values = {entity: given[0] if len(given) == 1 else given for entity, given in marked.items()}
    return RasaExample(_MARK.sub(lambda mark: mark["words"], text), "", values)


def _read_object(written: str | None, text: str) -> Mapping[str, Any]:
    try:
        about = read_json(written or "{}")
    except ValueError:
        raise EvaluationError(f"The mark {written} in “{text}” is not a JSON object.") from None
    return about if isinstance(about, dict) else {}


def _list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else ()
