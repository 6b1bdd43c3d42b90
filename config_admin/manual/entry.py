"""What the reference is made of: entries, each with an address of its own, in chapters."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

#: Where docstrings name pages and rulings of the specification, which readers of the manual do not have.
_SOURCES = re.compile(r"\s*\((?:[^()]*\b(?:R\d+|tables|settings|sessions|pipeline-\d|api-and-audit|habit)\b[^()]*)\)")


class Choice(NamedTuple):
    """One of the values that something may have."""

    value: str
    label: str
    help: str


@dataclass(frozen=True)
class Entry:
    """One thing of the vocabulary, as code explains it."""

    #: Unique, and the fragment of its address: `ce_rule.priority`, `stage.RULE_MATCH`.
    anchor: str
    #: What people call it, as forms do.
    title: str
    text: str
    #: What stands in rows, in code and in the record: `priority`, `RULE_MATCH`.
    name: str = ""
    #: More about it: what, and the text.
    facts: Sequence[tuple[str, str]] = ()
    choices: Sequence[Choice] = ()
    #: Chapters for people that go on about it.
    chapters: Sequence[str] = ()

    @property
    def folded(self) -> str:
        """Everything that a search looks at."""
        said = [self.title, self.name, self.anchor, self.text, *(f"{label} {text}" for label, text in self.facts)]
        return " ".join([*said, *(" ".join(choice) for choice in self.choices)]).lower()


@dataclass(frozen=True)
class Chapter:
    """A page of the reference."""

    slug: str
    title: str
    text: str
    entries: Sequence[Entry]
    #: Which part of the list of contents it stands in.
    part: str


#: Words that are written in capitals.
_ACRONYMS = frozenset(["api", "db", "http", "id", "json", "kb", "llm", "mcp", "sql"])


def in_words(name: str) -> str:
    """`HTTP_TIMEOUT` as `HTTP timeout`, `SchemaExtraction` as `Schema extraction`."""
    spaced = name.replace("_", " ") if "_" in name or name.isupper() else re.sub(r"(?<!^)(?=[A-Z])", " ", name)
    words = [word.upper() if word in _ACRONYMS else word for word in spaced.lower().split()]
    return f"{words[0][:1].upper()}{words[0][1:]}{''.join(f' {word}' for word in words[1:])}"


def plain(docstring: str | None) -> str:
    """The first paragraph of a docstring on one line, without its sources."""
    paragraph = (docstring or "").strip().split("\n\n")[0]
    return _SOURCES.sub("", " ".join(paragraph.split())).replace("`", "")
