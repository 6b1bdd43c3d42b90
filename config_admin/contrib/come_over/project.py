"""The files of a Rasa project, checked and read as one value. Nothing of Rasa is needed, and nothing of it runs."""

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator

from config_admin.contrib.come_over.paths import Reply, read_replies
from config_admin.transfer.document import FileRefused
from convengine.engine.text.compare import shorten_line
from convengine.evaluation.labelled import LabelledMessage, list_examples, read_marks
from convengine.evaluation.read import EvaluationError
from convengine.files import Unreadable
from convengine.files.apart import read_apart
from convengine.files.table_text import decode
from convengine.files.yaml_text import read_yaml
from convengine.json_value import Json

#: Limits of a project: files, bytes of a file, and bytes in all.
MOST_FILES, MOST_BYTES, MOST_BYTES_IN_ALL = 500, 4 * 1024 * 1024, 16 * 1024 * 1024
#: Where Rasa looks for the files that it learns from.
_ROOTS = ("domain", "domain.yml", "domain.yaml", "config.yml", "config.yaml", "data")
_YAML, _MARKDOWN = (".yml", ".yaml"), ".md"
#: Markdown that Rasa 1 learned from, not a text about the project.
_MARKDOWN_DATA = re.compile(r"^(## (intent|synonym|regex|lookup):|\* \w+(\{.*\})?\s*\n\s+- \w+)", re.MULTILINE)
_CONVERT = "Let Rasa 2.8 convert it (`rasa data convert nlu`, `… core`, `… responses`), then come over again."
#: The sections that make a YAML file one of a Rasa project.
_SECTIONS = frozenset({"intents", "slots", "responses", "forms", "actions", "nlu", "rules", "stories", "entities"})
_PROBLEM_LENGTH = 160


@dataclass
class Project:
    """Everything that is read of a project, in the order of its files."""

    name: str
    files: list[str] = field(default_factory=list)
    language: str = ""
    #: The examples of each intent, without marks of entities, with the marked values.
    examples: dict[str, list[LabelledMessage]] = field(default_factory=dict)
    #: Other words of a value, folded, and the value.
    synonyms: dict[str, str] = field(default_factory=dict)
    #: The values, and the patterns, of an entity.
    lookups: dict[str, list[str]] = field(default_factory=dict)
    patterns: dict[str, list[str]] = field(default_factory=dict)
    slots: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    #: The slots of each form, each with the mappings that the form itself has.
    forms: dict[str, dict[str, list[Mapping[str, Any]]]] = field(default_factory=dict)
    responses: dict[str, list[Mapping[str, Any]]] = field(default_factory=dict)
    intents: list[str] = field(default_factory=list)
    actions: list[str] = field(default_factory=list)
    #: Rules and stories by name, and what follows each of their intents and forms.
    rules: list[str] = field(default_factory=list)
    stories: list[str] = field(default_factory=list)
    replies: list[Reply] = field(default_factory=list)
    #: Further keys of the files, such as `pipeline`.
    sections: set[str] = field(default_factory=set)

    def find_words(self, entity: str) -> dict[str, list[str]]:
        """What users write for each value of an entity, by its lookup table, its synonyms and the marked examples."""
        words: dict[str, list[str]] = {}
        for text in self.lookups.get(entity, ()):
            words.setdefault(self.synonyms.get(text.casefold(), text), []).append(text)
        for example in (example for examples in self.examples.values() for example in examples):
            for value in list_values(example.values.get(entity)):
                words.setdefault(self.synonyms.get(value.casefold(), value), []).append(value)
        return words

    def list_synonyms(self, value: str) -> list[str]:
        return [text for text, meant in self.synonyms.items() if meant == value]


def list_values(value: Json) -> list[str]:
    return [str(each) for each in (value if isinstance(value, list) else [value]) if each]


def read_project(folder: Path) -> Project:
    """Read the project in a folder. Raises FileRefused, which names the file and the remedy."""
    if not folder.is_dir():
        raise FileRefused(str(folder), "is no folder. Name the folder with the domain.yml of the project.")
    project, documents = Project(folder.resolve().name), list[tuple[str, Mapping[str, Any]]]()
    for path, data in _read_files(folder):
        name = path.relative_to(folder).as_posix()
        document = _read_document(name, data)
        if _SECTIONS & document.keys() or "language" in document:
            documents.append((name, document))
            project.files.append(name)
    if not any(_SECTIONS & document.keys() for _, document in documents):
        raise FileRefused(
            str(folder),
            "is no Rasa project: neither domain.yml, domain/ nor data/ has intents, examples, responses or rules. "
            "Name the folder that has them.",
        )
    # The domain comes first: stories name its forms, and synonyms belong to all files.
    for name, document in documents:
        _add_domain(project, document)
        _add_synonyms(project, document, name)
    for name, document in documents:
        _add_training_data(project, document, name)
    return project


def _read_files(folder: Path) -> Iterator[tuple[Path, bytes]]:
    """The files of a project in a fixed order, each of them no larger than is read. Raises FileRefused."""
    total = 0
    for count, path in enumerate(_find_files(folder), 1):
        name = path.relative_to(folder).as_posix()
        if count > MOST_FILES:
            raise FileRefused(name, f"is one of more than {MOST_FILES} files. Join them, or come over by parts.")
        try:
            with path.open("rb") as opened:
                data = opened.read(MOST_BYTES + 1)
        except OSError as error:
            raise FileRefused(name, f"cannot be read: {error.strerror}. Correct its permissions.") from None
        total += len(data)
        if len(data) > MOST_BYTES or total > MOST_BYTES_IN_ALL:
            most = (MOST_BYTES if len(data) > MOST_BYTES else MOST_BYTES_IN_ALL) // 1024**2
            what = "it" if len(data) > MOST_BYTES else "the project up to it"
            raise FileRefused(name, f"cannot be read: {what} has more than {most} MB. Leave examples out.")
        if path.suffix.lower() == _MARKDOWN:
            if _MARKDOWN_DATA.search(data.decode("utf-8", "replace")):
                raise FileRefused(name, f"is training data of Rasa 1 (Markdown). {_CONVERT}")
            continue
        yield path, data


def _find_files(folder: Path) -> Iterator[Path]:
    """The files below the roots. Links are left out, because they may lead anywhere."""
    for root in (folder / name for name in _ROOTS):
        found = [root] if root.is_file() else []
        for parent, folders, names in os.walk(root):
            folders.sort()
            found += [Path(parent, name) for name in sorted(names)]
        for path in found:
            if path.suffix.lower() in (*_YAML, _MARKDOWN) and path.is_file() and not path.is_symlink():
                yield path


def _read_document(name: str, data: bytes) -> Mapping[str, Any]:
    """The document of a file; an empty one for a file without any. Raises FileRefused."""
    try:
        # Scalars stay as they are written: "yes", "no" and dates are what users say.
        document = read_apart(data, _load_yaml, data)
    except Unreadable as error:
        at = f"{name}, line {error.line}" if error.line else name
        raise FileRefused(at, f"{error.problem[:1].lower()}{error.problem[1:]} Correct the file.") from None
    if document == "":
        return {}
    if not isinstance(document, Mapping):
        raise FileRefused(name, "is not a file of Rasa: write a map with keys such as `nlu`, or move it away.")
    if "templates" in document or isinstance(document.get("forms"), list):
        key = "templates" if "templates" in document else "forms"
        raise FileRefused(name, f"is a domain of Rasa 1: `{key}` has another shape since Rasa 2. {_CONVERT}")
    for error in _get_validator().iter_errors(document):
        where = ".".join(map(str, error.absolute_path))
        deepest = min(error.context or (), key=lambda each: -len(each.absolute_path), default=error)
        where = ".".join(map(str, deepest.absolute_path)) or where
        problem = shorten_line(deepest.message, _PROBLEM_LENGTH)
        raise FileRefused(name, f"{where}: {problem}. Write it as Rasa 3 documents it.")
    return document


def _load_yaml(data: bytes) -> Json:
    return read_yaml(decode(data), yaml.CBaseLoader)


@cache
def _get_validator() -> Draft202012Validator:
    return Draft202012Validator(json.loads(Path(__file__).with_name("rasa.schema.json").read_text("utf-8")))


def _name_of(entry: Any) -> str:
    """The name of an entry that may have options: `greet`, or `greet: {use_entities: …}`."""
    return entry if isinstance(entry, str) else str(next(iter(entry)))


def _listed(mappings: Any) -> list[Mapping[str, Any]]:
    return [mappings] if isinstance(mappings, Mapping) else list(mappings or ())


def _add_domain(project: Project, document: Mapping[str, Any]) -> None:
    project.language = document.get("language") or project.language
    project.intents += [_name_of(entry) for entry in document.get("intents") or ()]
    project.actions += [_name_of(entry) for entry in document.get("actions") or ()]
    project.responses |= document.get("responses") or {}
    project.slots |= {
        name: {**slot, "mappings": _listed(slot.get("mappings"))}
        for name, slot in (document.get("slots") or {}).items()
    }
    for name, form in (document.get("forms") or {}).items():
        slots = (form or {}).get("required_slots") or {}
        project.forms[name] = (
            {slot: _listed(mappings) for slot, mappings in slots.items()}
            if isinstance(slots, Mapping)
            else {slot: [] for slot in slots}
        )
    project.sections |= document.keys() - _SECTIONS - {"version", "language"}


def _add_synonyms(project: Project, document: Mapping[str, Any], name: str) -> None:
    for section in document.get("nlu") or ():
        if section.get("synonym"):
            project.synonyms |= {text.casefold(): section["synonym"] for text in list_examples(section)}


def _add_training_data(project: Project, document: Mapping[str, Any], name: str) -> None:
    """Raises FileRefused for a mark that cannot be read."""
    for section in document.get("nlu") or ():
        texts: Sequence[str] = list_examples(section)
        if intent := section.get("intent"):
            try:
                read = [read_marks(text, project.synonyms, intent, f"{name}, {intent}") for text in texts]
            except EvaluationError as error:
                raise FileRefused(name, f"{intent}: {error} Correct the example.") from None
            project.examples.setdefault(intent, []).extend(read)
        for kind, known in (("lookup", project.lookups), ("regex", project.patterns)):
            if section.get(kind):
                known.setdefault(section[kind], []).extend(texts)
    for rule in document.get("rules") or ():
        project.rules.append(rule.get("rule", ""))
        project.replies += read_replies(rule, "rule", project.forms)
    for story in document.get("stories") or ():
        project.stories.append(story.get("story", ""))
        project.replies += read_replies(story, "story", project.forms)
