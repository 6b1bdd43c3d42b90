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

#: Limits of a project: files, bytes of a file, and bytes in all.
MOST_FILES, MOST_BYTES, MOST_BYTES_IN_ALL = 500, 4 * 1024 * 1024, 16 * 1024 * 1024
#: Where Rasa looks for its domain, its configuration and its training data.
_ROOTS = ("domain", "domain.yml", "domain.yaml", "config.yml", "config.yaml", "data")
_YAML, _MARKDOWN = (".yml", ".yaml"), ".md"
#: Markdown that Rasa 1 learns from, and not a text about the project.
_MARKDOWN_DATA = re.compile(r"^(## (intent|synonym|regex|lookup):|\* \w+(\{.*\})?\s*\n\s+- \w+)", re.MULTILINE)
_CONVERT = "Let Rasa 2.8 convert it (`rasa data convert nlu`, `… core`, `… responses`), then come over again."
#: The sections that make a file one of a Rasa project.
_SECTIONS = frozenset({"intents", "slots", "responses", "forms", "actions", "nlu", "rules", "stories", "entities"})
_LONGEST_PROBLEM = 160
Mapped = Mapping[str, Any]


@dataclass
class Project:
    """Everything that is read of a project, in the order of its files."""

    name: str
    language: str = ""
    #: The examples of each intent without marks, and the marked values.
    examples: dict[str, list[LabelledMessage]] = field(default_factory=dict)
    #: The values by their other words, folded.
    synonyms: dict[str, str] = field(default_factory=dict)
    #: The values, and the patterns, of an entity.
    lookups: dict[str, list[str]] = field(default_factory=dict)
    patterns: dict[str, list[str]] = field(default_factory=dict)
    slots: dict[str, Mapped] = field(default_factory=dict)
    #: The slots of each form, each with the mappings that the form itself has.
    forms: dict[str, dict[str, list[Mapped]]] = field(default_factory=dict)
    responses: dict[str, list[Mapped]] = field(default_factory=dict)
    intents: list[str] = field(default_factory=list)
    actions: list[str] = field(default_factory=list)
    #: Rules and stories, as kind and name, and what follows each of their messages and forms.
    paths: list[tuple[str, str]] = field(default_factory=list)
    replies: list[Reply] = field(default_factory=list)
    #: Further keys of the files, such as `pipeline`.
    sections: set[str] = field(default_factory=set)

    def list_replies(self, intent: str) -> list[Reply]:
        """What follows an intent. A part of a retrieval intent is meant by the name of the whole, too."""
        names = {intent, intent.partition("/")[0]}
        return [reply for reply in self.replies if names & {*reply.intents}]

    def find_value(self, text: str) -> str:
        return self.synonyms.get(text.casefold(), text)

    def list_synonyms(self, value: str) -> list[str]:
        return [text for text, meant in self.synonyms.items() if meant == value]

    def find_words(self, entity: str) -> dict[str, list[str]]:
        """What users write for each value of an entity, by its lookup table and the marked examples."""
        marked = (example.values.get(entity) for examples in self.examples.values() for example in examples)
        listed = (value if isinstance(value, list) else [value] for value in marked if value)
        words: dict[str, list[str]] = {}
        for text in (*self.lookups.get(entity, ()), *(str(value) for values in listed for value in values)):
            words.setdefault(self.find_value(text), []).append(text)
        return words


def read_project(folder: Path) -> Project:
    """Read the project in a folder. Raises FileRefused, which names the file and the remedy."""
    if not folder.is_dir():
        raise FileRefused(str(folder), "is no folder. Name the folder with the domain.yml of the project.")
    documents = [(name, _read_document(name, data)) for name, data in _read_files(folder)]
    if not any(_SECTIONS & document.keys() for _, document in documents):
        raise FileRefused(
            str(folder),
            "is no Rasa project: neither domain.yml, domain/ nor data/ has intents, examples, responses or rules. "
            "Name the folder that has them.",
        )
    project = Project(folder.resolve().name)
    # Stories name the forms of the domain, and synonyms belong to all files.
    for add in (_add_domain, _add_training_data):
        for name, document in documents:
            add(project, name, document)
    return project


def _read_files(folder: Path) -> Iterator[tuple[str, bytes]]:
    """The YAML files of a project in a fixed order, as far as they are not too many or too large."""
    total = 0
    for count, path in enumerate(_find_files(folder), 1):
        name = path.relative_to(folder).as_posix()
        if count > MOST_FILES:
            raise FileRefused(name, f"is one of more than {MOST_FILES} files. Join some of them.")
        try:
            with path.open("rb") as opened:
                data = opened.read(MOST_BYTES + 1)
        except OSError as error:
            raise FileRefused(name, f"cannot be read: {error.strerror}. Correct its permissions.") from None
        total += len(data)
        if len(data) > MOST_BYTES:
            raise FileRefused(name, f"has more than {MOST_BYTES // 1024**2} MB. Split it, or leave examples out.")
        if total > MOST_BYTES_IN_ALL:
            most = MOST_BYTES_IN_ALL // 1024**2
            raise FileRefused(name, f"is too much: the files up to it have more than {most} MB. Leave examples out.")
        if path.suffix.lower() in _YAML:
            yield name, data
        elif _MARKDOWN_DATA.search(data.decode("utf-8", "replace")):
            raise FileRefused(name, f"is training data of Rasa 1 (Markdown). {_CONVERT}")


def _find_files(folder: Path) -> Iterator[Path]:
    """The files below the roots. Links are left out, because they may lead anywhere."""
    for root in (folder / name for name in _ROOTS if not (folder / name).is_symlink()):
        below = [Path(parent, name) for parent, _, names in sorted(os.walk(root)) for name in sorted(names)]
        for path in [root, *below]:
            if path.suffix.lower() in (*_YAML, _MARKDOWN) and path.is_file() and not path.is_symlink():
                yield path


def _read_document(name: str, data: bytes) -> Mapped:
    """The document of a file; an empty one for a file without any. Raises FileRefused."""
    try:
        # Scalars stay as they are written: "yes", "no" and dates are what users say.
        document = read_apart(data, read_yaml, decode(data), yaml.CBaseLoader)
    except Unreadable as error:
        position = f"{name}, line {error.line}" if error.line else name
        raise FileRefused(position, f"{error.problem[:1].lower()}{error.problem[1:]} Correct the file.") from None
    if not isinstance(document, Mapping):
        if document == "":
            return {}
        raise FileRefused(name, "is not a file of Rasa: it has no keys such as `nlu`. Correct it, or move it away.")
    for key in ("templates", "forms"):
        if key in document and (key == "templates" or isinstance(document[key], list)):
            raise FileRefused(name, f"is a domain of Rasa 1, because of its `{key}`. {_CONVERT}")
    if invalid := next(_get_validator().iter_errors(document), None):
        deepest = max(invalid.context or [invalid], key=lambda each: len(each.absolute_path))
        where = ".".join(map(str, deepest.absolute_path))
        problem = shorten_line(deepest.message, _LONGEST_PROBLEM)
        raise FileRefused(name, f"{where}: {problem}. Write it as Rasa 3 documents it.")
    return document


@cache
def _get_validator() -> Draft202012Validator:
    return Draft202012Validator(json.loads(Path(__file__).with_name("rasa.schema.json").read_text("utf-8")))


def _list_names(entries: Sequence[Any]) -> list[str]:
    """The names of entries that may have options: `greet`, or `greet: {use_entities: …}`."""
    return [entry if isinstance(entry, str) else str(next(iter(entry))) for entry in entries or ()]


def _list_mappings(mappings: Any) -> list[Mapped]:
    return [mappings] if isinstance(mappings, Mapping) else list(mappings or ())


def _add_domain(project: Project, name: str, document: Mapped) -> None:
    project.language = document.get("language") or project.language
    project.intents += _list_names(document.get("intents", ()))
    project.actions += _list_names(document.get("actions", ()))
    project.responses |= document.get("responses") or {}
    project.sections |= document.keys() - _SECTIONS
    for slot, declared in (document.get("slots") or {}).items():
        project.slots[slot] = {**declared, "mappings": _list_mappings(declared.get("mappings"))}
    for form, declared in (document.get("forms") or {}).items():
        slots = (declared or {}).get("required_slots") or {}
        own = slots if isinstance(slots, Mapping) else {}
        project.forms[form] = {slot: _list_mappings(own.get(slot)) for slot in slots}
    for section in document.get("nlu") or ():
        if section.get("synonym"):
            project.synonyms |= {text.casefold(): section["synonym"] for text in list_examples(section)}


def _add_training_data(project: Project, name: str, document: Mapped) -> None:
    """Raises FileRefused for a mark that cannot be read."""
    for section in document.get("nlu") or ():
        texts, intent = list_examples(section), section.get("intent")
        try:
            examples = [read_marks(text, project.synonyms, intent, name) for text in texts if intent]
        except EvaluationError as error:
            raise FileRefused(name, f"{intent}: {error} Correct the example.") from None
        if intent:
            project.examples.setdefault(intent, []).extend(examples)
        for kind, known in (("lookup", project.lookups), ("regex", project.patterns)):
            if section.get(kind):
                known.setdefault(section[kind], []).extend(texts)
    for kind, key in (("rule", "rules"), ("story", "stories")):
        for path in document.get(key) or ():
            project.paths.append((kind, path.get(kind, "")))
            project.replies += read_replies(path, kind, project.forms)
