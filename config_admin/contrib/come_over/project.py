"""A bot of another system, as its files say it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from config_admin.contrib.come_over.outcomes import PlanEntry, Role, find_role
from config_admin.contrib.come_over.paths import Reply
from convengine.evaluation.labelled import LabelledMessage

Mapped = Mapping[str, Any]


@dataclass
class Project:
    """Everything that is read of a project, in the order of its files."""

    name: str
    language: str = ""
    #: The examples of each intent without marks, and the marked values.
    examples: dict[str, list[LabelledMessage]] = field(default_factory=dict)
    #: The values by their other words, folded; and those of an entity that has words of its own.
    synonyms: dict[str, str] = field(default_factory=dict)
    entity_synonyms: dict[str, dict[str, str]] = field(default_factory=dict)
    #: The values, and the patterns, of an entity.
    lookups: dict[str, list[str]] = field(default_factory=dict)
    patterns: dict[str, list[str]] = field(default_factory=dict)
    slots: dict[str, Mapped] = field(default_factory=dict)
    #: The slots of each form, each with the mappings that the form itself has.
    forms: dict[str, dict[str, list[Mapped]]] = field(default_factory=dict)
    #: What one form alone says of a slot, by both names.
    form_slots: dict[tuple[str, str], Mapped] = field(default_factory=dict)
    responses: dict[str, Sequence[Mapped]] = field(default_factory=dict)
    intents: list[str] = field(default_factory=list)
    actions: list[str] = field(default_factory=list)
    #: Rules and stories, as kind and name, and what follows each of their messages and forms.
    paths: list[tuple[str, str]] = field(default_factory=list)
    replies: list[Reply] = field(default_factory=list)
    #: The stories that say how the bot must react.
    tests: list[Mapped] = field(default_factory=list)
    #: Further keys of the files, such as `pipeline`.
    sections: set[str] = field(default_factory=set)
    #: What intents are for whose names do not say it.
    roles: dict[str, Role] = field(default_factory=dict)
    #: What does not come along of entities.
    entity_losses: dict[str, str] = field(default_factory=dict)
    #: Entries of the plan that the reader has written.
    entries: list[PlanEntry] = field(default_factory=list)
    #: What the system calls parts, where it has other names for them.
    part_names: Mapped = field(default_factory=dict)
    #: The same project with its texts in other languages.
    translations: dict[str, "Project"] = field(default_factory=dict)

    def find_role(self, intent: str) -> Role | None:
        return self.roles.get(intent) or find_role(intent)

    def list_replies(self, intent: str) -> list[Reply]:
        """What follows an intent. A part of a retrieval intent is meant by the name of the whole, too."""
        names = {intent, intent.partition("/")[0]}
        return [reply for reply in self.replies if names & {*reply.intents}]

    def find_value(self, text: str, entity: str) -> str:
        return self.entity_synonyms.get(entity, self.synonyms).get(text.casefold(), text)

    def list_synonyms(self, value: str) -> list[str]:
        return [text for text, meant in self.synonyms.items() if meant == value]

    def find_words(self, entity: str) -> dict[str, list[str]]:
        """What users write for each value of an entity, by its lookup table and the marked examples."""
        marked = (example.values.get(entity) for examples in self.examples.values() for example in examples)
        listed = (value if isinstance(value, list) else [value] for value in marked if value)
        words: dict[str, list[str]] = {}
        for text in (*self.lookups.get(entity, ()), *(str(value) for values in listed for value in values)):
            words.setdefault(self.find_value(text, entity), []).append(text)
        return words
