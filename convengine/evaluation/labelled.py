"""Labelled messages from files: CSV, JSON lines, YAML, and Rasa's `nlu.yml` and tests."""

import gzip
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

import yaml

from convengine.evaluation.read import UNREADABLE, EvaluationError, check_situation
from convengine.files import Unreadable
from convengine.files.json_text import read_json
from convengine.files.table_text import decode, read_table
from convengine.files.yaml_text import read_yaml
from convengine.json_value import Json

#: The names of the columns and keys, in the order of preference.
_MESSAGE, _INTENT = ("message", "text", "say", "utterance"), ("intent", "label")
_SITUATION = ("asked", "held", "offered", "question", "confirming", "now", "locale")
#: The beginning of the name of a column with the values of a field.
_VALUE = "values."
#: Maximum characters of a message, as much as anybody sends.
_LONGEST = 16_000
#: Maximum messages of all files together.
MOST_MESSAGES = 200_000
#: The keys of a document of Rasa. Others than the first two have no messages.
_RASA_KEYS = frozenset({"nlu", "stories", "rules", "version", "intents", "pipeline", "policies", "recipe"})
#: Sections of `nlu` besides intents, in words.
_OTHER_SECTIONS = {"regex": "regular expressions", "lookup": "lookup tables"}
#: `[Berlin](city)`, `[Berlin](city:berlin)`, `[Berlin]{"entity": "city", "value": "berlin"}`.
_MARK = re.compile(r"\[(?P<words>[^\[\]]+)\](?:\((?P<entity>[^():]+)(?::(?P<value>[^()]+))?\)|(?P<object>\{[^{}]*\}))")

_MARKED_VALUE = re.compile(r'"value"\s*:\s*"([^"]+)"')


@dataclass(frozen=True)
class LabelledMessage:
    text: str
    #: A blank one for "none of them"; None if nobody said.
    intent: str | None = None
    #: The values that it gives, by field.
    values: Mapping[str, Json] = field(default_factory=dict)
    #: What is known of the moment: `asked`, `held`, `question`, `confirming`, `now`, `locale` (docs/evaluate.md).
    situation: Mapping[str, Json] = field(default_factory=dict)
    #: The file, and where in it.
    source: str = ""


@dataclass
class LabelledFiles:
    """The messages of all files, and what was left out, in words."""

    messages: list[LabelledMessage] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def read_files(paths: Iterable[Path]) -> LabelledFiles:
    """The messages of files, and of all files of folders. Raises EvaluationError."""
    files = LabelledFiles()
    for path in paths:
        if path.is_dir():
            listed = sorted(file for file in path.rglob("*") if file.is_file() and _find_reader(file.name))
            before = len(files.messages)
            for file in listed:
                _add(files, str(file.relative_to(path)), _read_bytes(file), is_chosen=False)
            if len(files.messages) == before:
                raise EvaluationError(f"{path}: no file in this folder has labelled messages.")
        else:
            _add(files, path.name, _read_bytes(path))
    return files


def read_upload(name: str, content: bytes) -> LabelledFiles:
    """The messages of a file that somebody sent. Raises EvaluationError."""
    files = LabelledFiles()
    _add(files, name, content)
    return files


def _read_bytes(file: Path) -> bytes:
    try:
        return gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    except UNREADABLE as error:
        raise EvaluationError(f"{file}: cannot be read: {getattr(error, 'strerror', None) or error}.") from None


def _add(files: LabelledFiles, name: str, content: bytes, *, is_chosen: bool = True) -> None:
    """Add the messages of a file. `is_chosen`: it was named itself, so it must have some."""
    reader = _find_reader(name)
    if reader is None:
        raise EvaluationError(f"{name}: the name must end with {', '.join(_READERS)}.")
    before = len(files.messages)
    try:
        files.messages += islice(reader(decode(content), name, files.notes), MOST_MESSAGES - before + 1)
    except Unreadable as error:
        at = f"{name}, line {error.line}" if error.line else name
        raise EvaluationError(f"{at}: {error.problem[:1].lower()}{error.problem[1:]}") from None
    if len(files.messages) > MOST_MESSAGES:
        raise EvaluationError(f"{name}: more than {MOST_MESSAGES:,} messages are too many. Evaluate a part of them.")
    if is_chosen and len(files.messages) == before:
        raise EvaluationError(f"{name}: the file has no labelled messages.")


_Reader = Callable[[str, str, list[str]], Iterator[LabelledMessage]]


def _find_reader(name: str) -> _Reader | None:
    return _READERS.get(Path(name.removesuffix(".gz")).suffix.lower())


def _read_csv(text: str, name: str, notes: list[str]) -> Iterator[LabelledMessage]:
    (_, heads), *lines = read_table(text, (",", ";", "\t")) or [(1, ())]
    columns = [head.strip() for head in heads]
    _find_key(columns, _MESSAGE, f"{name}, line 1", "column")
    for number, cells in lines:
        if not cells:
            continue
        row = dict(zip_longest(columns, cells[: len(columns)]))
        # A blank cell of an intent means none of them; a blank cell of a field is no label.
        values = {key[len(_VALUE) :]: value for key, value in row.items() if key.startswith(_VALUE) and value}
        yield _build({**row, "values": values}, f"{name}, line {number}")


def _read_lines(text: str, name: str, notes: list[str]) -> Iterator[LabelledMessage]:
    # Texts may have other line separators, such as U+2028.
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            at = f"{name}, line {number}"
            try:
                entry = read_json(line)
            except Unreadable as error:
                raise EvaluationError(f"{at}: the file is not valid JSON: {error.describe()}.") from None
            yield _build(entry, at)


def _read_yaml(text: str, name: str, notes: list[str]) -> Iterator[LabelledMessage]:
    """A list of messages, or a file of Rasa. A file of Rasa with neither examples nor tests has no messages."""
    # Scalars stay as they are written: "yes", "no" and dates are what users say.
    document = read_yaml(text, yaml.CBaseLoader)
    if isinstance(document, dict) and _RASA_KEYS & document.keys():
        yield from _read_rasa(document, name)
        left_out = []
        for key, words in _OTHER_SECTIONS.items():
            count = sum(isinstance(section, dict) and key in section for section in _list(document.get("nlu")))
            left_out += [f"{words} ({count})"] if count else []
        if left_out:
            notes.append(f"{name}: left out because they are not messages: {', '.join(left_out)}.")
    elif isinstance(document, list):
        for number, entry in enumerate(document, 1):
            yield _build(entry, f"{name}, entry {number}")


def _build(entry: Json, at: str) -> LabelledMessage:
    """The message of an entry; `at` says where it is. Raises EvaluationError."""
    if not isinstance(entry, Mapping):
        raise EvaluationError(f'{at}: write an object with "message" and "intent".')
    message = entry[_find_key(entry, _MESSAGE, at, "key")]
    values = entry.get("values") or {}
    if not isinstance(message, str) or not isinstance(values, Mapping):
        raise EvaluationError(f"{at}: the message must be a text, and the values an object.")
    if len(message) > _LONGEST:
        raise EvaluationError(f"{at}: a message has at most {_LONGEST:,} characters.")
    intent_key = next((key for key in _INTENT if key in entry), None)
    intent = None if intent_key is None else str(entry[intent_key] or "").strip()
    situation = {key: entry[key] for key in _SITUATION if entry.get(key)}
    check_situation(situation, at)
    return LabelledMessage(message, intent, values, situation, at)


def _find_key(keys: Iterable[str], names: Sequence[str], at: str, what: str) -> str:
    known = set(keys)
    for name in names:
        if name in known:
            return name
    raise EvaluationError(f"{at}: there is no {what} called {names[0]}.")


def _read_rasa(document: Mapping[str, Any], name: str) -> Iterator[LabelledMessage]:
    """The examples of a document of Rasa, and the messages of its tests, without marks of entities.

    Values in other words are replaced as its synonyms say. Stories to learn from have intents alone, and no messages.
    """
    sections = [section for section in _list(document.get("nlu")) if isinstance(section, dict)]
    synonyms = {
        text.casefold(): section["synonym"]
        for section in sections
        if "synonym" in section
        for text in list_examples(section)
    }
    for section in sections:
        if "intent" in section:
            intent = str(section["intent"])
            for number, text in enumerate(list_examples(section), 1):
                yield read_marks(text, synonyms, intent, f"{name}, {intent}, example {number}")
    for story in _list(document.get("stories")):
        for step in _list(story.get("steps")) if isinstance(story, dict) else ():
            if isinstance(step, dict) and isinstance(step.get("user"), str) and "intent" in step:
                at = f"{name}, story {story.get('story', '')}"
                yield read_marks(step["user"].strip(), synonyms, str(step["intent"]), at)


def list_examples(section: Mapping[str, Any]) -> Sequence[str]:
    """The examples of a section, written as a text with a hyphen before each line, or as a list."""
    examples = section.get("examples") or ""
    if isinstance(examples, str):
        lines = (line.strip() for line in examples.splitlines())
        return [text for line in lines if line.startswith("-") and (text := line[1:].strip())]
    texts = (each.get("text") if isinstance(each, dict) else each for each in _list(examples))
    return [text.strip().removeprefix("- ") for text in texts if isinstance(text, str) and text.strip()]


def read_marks(text: str, synonyms: Mapping[str, str], intent: str, at: str) -> LabelledMessage:
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
    return LabelledMessage(_MARK.sub(lambda mark: mark["words"], text), intent, values, source=at)


def list_marked_values(text: str) -> dict[str, str]:
    """The values that marks name for other words, by these words, folded."""
    values = dict[str, str]()
    for mark in _MARK.finditer(text):
        if value := mark["value"] or "".join(_MARKED_VALUE.findall(mark["object"] or "")):
            values[mark["words"].casefold()] = value
    return values


def _read_object(written: str | None, text: str) -> Mapping[str, Any]:
    try:
        about = read_json(written or "{}")
    except ValueError:
        raise EvaluationError(f"The mark {written} in “{text}” is not a JSON object.") from None
    return about if isinstance(about, dict) else {}


def _list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else ()


_READERS: Mapping[str, _Reader] = {
    ".csv": _read_csv,
    ".jsonl": _read_lines,
    ".yaml": _read_yaml,
    ".yml": _read_yaml,
}
