"""The parts of the reference: entries, each with its own address, in chapters."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple


class PossibleValue(NamedTuple):
    value: str
    label: str
    help: str


@dataclass(frozen=True)
class ReferenceEntry:
    #: Unique, and the fragment of its address: `ce_rule.priority`, `stage.RULE_MATCH`.
    anchor: str
    #: The label, as on edit pages.
    title: str
    text: str
    #: The identifier in rows, code and record: `priority`, `RULE_MATCH`.
    name: str = ""
    #: More facts: label and text.
    facts: Sequence[tuple[str, str]] = ()
    choices: Sequence[PossibleValue] = ()
    #: Chapters with more information.
    chapters: Sequence[str] = ()

    @property
    def folded(self) -> str:
        """The text that a search looks at."""
        parts = [self.title, self.name, self.anchor, self.text, *(f"{label} {text}" for label, text in self.facts)]
        return " ".join([*parts, *(" ".join(choice) for choice in self.choices)]).lower()


@dataclass(frozen=True)
class Chapter:
    """A page of the reference."""

    slug: str
    title: str
    text: str
    entries: Sequence[ReferenceEntry]
    #: Its part in the table of contents.
    part: str


def plain(docstring: str | None) -> str:
    """The first paragraph of a docstring on one line."""
    paragraph = (docstring or "").strip().split("\n\n")[0]
    return " ".join(paragraph.split()).replace("`", "")
