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
from convengine.evaluation.labelled import list_examples, list_marked_values, read_marks
from convengine.evaluation.read import EvaluationError
from convengine.files.yaml_text import read_yaml

_MARKDOWN, _TESTS = ".md", "tests/"
#: Where Rasa looks for its domain, its configuration, its training data and its test stories.
LAYOUT = Layout(
    ("domain", "domains", "domain.yml", "domain.yaml", "config.yml", "config.yaml", "data", "tests"),
    (".yml", ".yaml", _MARKDOWN),
)
#: Markdown that Rasa 1 learns from, and not a text about the project.
_MARKDOWN_DATA = re.compile(r"^(## (intent|synonym|regex|lookup):|\* \w+(\{.*\})?\s*\n\s+- \w+)", re.MULTILINE)
_CONVERT = "Let Rasa 2.8 convert it (`rasa data convert nlu`, `… core`, `… responses`), then come over again."
#: The sections that make a file one of a Rasa project.
_SECTIONS = frozenset({"intents", "slots", "responses", "forms", "actions", "nlu", "rules", "stories", "entities"})


def read_project(name: str, files: Files) -> Project:
    """Read the files of a project. Raises FileRefused, which names the file and the remedy."""
    documents = {path: _read_document(path, data) for path, data in files if not _is_text(path, data)}
    tests = [documents.pop(path) for path in [*documents] if path.startswith(_TESTS)]
    if not any(_SECTIONS & document.keys() for document in documents.values()):
        raise FileRefused(
            name,
            "is no Rasa project: neither domain.yml, domain/ nor data/ has intents, examples, responses or rules. "
            "Name the folder that has them.",
        )
    project = Project(name, tests=[story for document in tests for story in document.get("stories") or ()])
    # Stories name the forms of the domain, and synonyms belong to all files.
    for add in (_add_domain, _add_training_data):
        for path, document in documents.items():
            add(project, path, document)
    return project


def _is_text(name: str, data: bytes) -> bool:
    """Whether it is a text about the project. Raises FileRefused for training data in Markdown."""
    is_markdown = name.lower().endswith(_MARKDOWN)
    if is_markdown and not name.startswith(_TESTS) and _MARKDOWN_DATA.search(data.decode("utf-8", "replace")):
        raise FileRefused(name, f"is training data of Rasa 1 (Markdown). {_CONVERT}")
    return is_markdown


def _read_document(name: str, data: bytes) -> Mapped:
    """The document of a file; an empty one for a file without any. Raises FileRefused."""
    # Scalars stay as they are written: "yes", "no" and dates are what users say.
    document = _empty_nulls(read_document(name, data, read_yaml, yaml.CBaseLoader))
    if not isinstance(document, Mapping):
        if document == "":
            return {}
        raise FileRefused(name, "is not a file of Rasa: it has no keys such as `nlu`. Correct it, or move it away.")
    if "templates" in document:
        raise FileRefused(name, "is a domain of Rasa 1. Call its `templates` `responses`, as Rasa 2 does.")
    check_document(name, document, "rasa.schema.json", "", "Write it as Rasa 3 documents it.")
    return document


def _empty_nulls(value: Any) -> Any:
    """The value with an empty text for each null below a key."""
    if isinstance(value, list):
        return [_empty_nulls(each) for each in value]
    if not isinstance(value, Mapping):
        return value
    return {key: "" if each == "null" or each == "~" else _empty_nulls(each) for key, each in value.items()}


def _list_names(entries: Sequence[Any]) -> list[str]:
    """The names of entries that may have options: `greet`, or `greet: {use_entities: …}`."""
    return [name for entry in entries or () if (name := entry if isinstance(entry, str) else str(next(iter(entry))))]


def _list_mappings(mappings: Any) -> list[Mapped]:
    return [mappings] if isinstance(mappings, Mapping) else list(mappings or ())


def _add_domain(project: Project, name: str, document: Mapped) -> None:
    project.language = document.get("language") or project.language
    project.intents += _list_names(document.get("intents", ()))
    project.actions += _list_names(document.get("actions", ()))
    project.responses |= {name: texts or [] for name, texts in (document.get("responses") or {}).items()}
    project.sections |= document.keys() - _SECTIONS
    for slot, declared in (document.get("slots") or {}).items():
        project.slots[slot] = {**declared, "mappings": _list_mappings(declared.get("mappings"))}
    forms = document.get("forms") or {}
    declared_forms = forms if isinstance(forms, Mapping) else dict.fromkeys(_list_names(forms))
    project.forms |= {form: _read_form(declared or {}) for form, declared in declared_forms.items()}
    for section in document.get("nlu") or ():
        project.synonyms |= _read_synonyms(section)


def _read_synonyms(section: Mapped) -> dict[str, str]:
    """The synonyms of a section, or those that the marks of its examples name."""
    if value := section.get("synonym"):
        return {text.casefold(): value for text in list_examples(section)}
    marked = map(list_marked_values, list_examples(section) if section.get("intent") else ())
    return {words: value for each in marked for words, value in each.items()}


def _read_form(declared: Mapped) -> dict[str, list[Mapped]]:
    """The slots of a form with their mappings. Before Rasa 2.6, they were keys of the form itself."""
    older = {name: mappings for name, mappings in declared.items() if name != "ignored_intents"}
    slots = older.get("required_slots", older) or {}
    own = slots if isinstance(slots, Mapping) else {}
    return {slot: _list_mappings(own.get(slot)) for slot in slots}


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
