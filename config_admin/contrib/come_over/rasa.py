"""The files of a Rasa project, checked and read as one value. Nothing of Rasa is needed, and nothing of it runs."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from config_admin.contrib.come_over.documents import check_document, read_document
from config_admin.contrib.come_over.files import Files, Layout
from config_admin.contrib.come_over.paths import read_replies
from config_admin.contrib.come_over.project import Mapped, Project
from config_admin.transfer.document import FileRefused
from convengine.evaluation.labelled import list_examples, read_marks
from convengine.evaluation.read import EvaluationError
from convengine.files.yaml_text import read_yaml

_MARKDOWN = ".md"
#: Where Rasa looks for its domain, its configuration and its training data.
LAYOUT = Layout(
    ("domain", "domain.yml", "domain.yaml", "config.yml", "config.yaml", "data"), (".yml", ".yaml", _MARKDOWN)
)
#: Markdown that Rasa 1 learns from, and not a text about the project.
_MARKDOWN_DATA = re.compile(r"^(## (intent|synonym|regex|lookup):|\* \w+(\{.*\})?\s*\n\s+- \w+)", re.MULTILINE)
_CONVERT = "Let Rasa 2.8 convert it (`rasa data convert nlu`, `… core`, `… responses`), then come over again."
#: The sections that make a file one of a Rasa project.
_SECTIONS = frozenset({"intents", "slots", "responses", "forms", "actions", "nlu", "rules", "stories", "entities"})


def read_project(name: str, files: Files) -> Project:
    """Read the files of a project. Raises FileRefused, which names the file and the remedy."""
    documents = [(path, _read_document(path, data)) for path, data in files if not _is_text(path, data)]
    if not any(_SECTIONS & document.keys() for _, document in documents):
        raise FileRefused(
            name,
            "is no Rasa project: neither domain.yml, domain/ nor data/ has intents, examples, responses or rules. "
            "Name the folder that has them.",
        )
    project = Project(name)
    # Stories name the forms of the domain, and synonyms belong to all files.
    for add in (_add_domain, _add_training_data):
        for path, document in documents:
            add(project, path, document)
    return project


def _is_text(name: str, data: bytes) -> bool:
    """Whether it is a text about the project. Raises FileRefused for training data in Markdown."""
    is_markdown = name.lower().endswith(_MARKDOWN)
    if is_markdown and _MARKDOWN_DATA.search(data.decode("utf-8", "replace")):
        raise FileRefused(name, f"is training data of Rasa 1 (Markdown). {_CONVERT}")
    return is_markdown


def _read_document(name: str, data: bytes) -> Mapped:
    """The document of a file; an empty one for a file without any. Raises FileRefused."""
    # Scalars stay as they are written: "yes", "no" and dates are what users say.
    document = read_document(name, data, read_yaml, yaml.CBaseLoader)
    if not isinstance(document, Mapping):
        if document == "":
            return {}
        raise FileRefused(name, "is not a file of Rasa: it has no keys such as `nlu`. Correct it, or move it away.")
    for key in ("templates", "forms"):
        if key in document and (key == "templates" or isinstance(document[key], list)):
            raise FileRefused(name, f"is a domain of Rasa 1, because of its `{key}`. {_CONVERT}")
    check_document(name, document, "rasa.schema.json", "", "Write it as Rasa 3 documents it.")
    return document


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
