"""The sections of all answer documents of a configuration, ready to be searched."""

from collections.abc import Mapping, Sequence
from typing import Any

from convengine.engine.cached_property import cached_property
from convengine.engine.documents.finder import FoundSection, SectionFinder, SectionText
from convengine.engine.documents.sections import split_document
from convengine.engine.turn import live_settings, rows
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.understanding.phrases.book import get_phrase_book
from convengine.engine.understanding.phrases.models import may_wait
from convengine.engine.understanding.phrases.passages import load_passages, name_passages
from convengine.engine.understanding.phrases.settings import EMBEDDING_MODEL

#: How many sections a message is answered with.
MOST_CARDS = 3


class Library:
    """The sections that are on, of all documents that are on."""

    def __init__(self, documents: Sequence[rows.AnswerDocument], encoder: str) -> None:
        """`encoder`: the embedding model; blank for none."""
        self.sections = [section for row in documents for section in split_row(row)]
        self._encoder = encoder
        self._finder: SectionFinder | None = None

    @cached_property
    def vector_names(self) -> frozenset[str]:
        """The names of the stored vectors that it needs."""
        return frozenset(name_passages(section.list_compared(), self._encoder) for section in self.sections)

    def find(self, message: str, user_group: str = "") -> tuple[FoundSection, ...]:
        """The sections that may answer a message, the likeliest first; none while their vectors are being made."""
        finder = self._get_finder()
        return finder.find(message, MOST_CARDS + 1, user_group) if finder else ()

    def _get_finder(self) -> SectionFinder | None:
        # Of very many sections, the process makes it before turns need it (`prepare_answers`).
        if self._finder is None and self.sections and may_wait(len(self.sections)):
            ready = load_passages([section.list_compared() for section in self.sections], self._encoder)
            self._finder = SectionFinder(self.sections, *ready) if ready else None
        return self._finder


def prepare_answers(snapshot: Snapshot) -> None:
    """Have lines and documents ready before a turn asks for them."""
    message = "Hello"
    get_phrase_book(snapshot).rank(message, by_answers=True)
    get_library(snapshot).find(message)


def get_library(snapshot: Snapshot) -> Library:
    """The library of a configuration; made once per version of the table."""
    encoder = live_settings.read(snapshot, EMBEDDING_MODEL).value.strip()
    table = snapshot.table(rows.AnswerDocument)
    return table.memo.get(("library", encoder), lambda: Library(snapshot.enabled_rows(rows.AnswerDocument), encoder))


def split_row(row: rows.AnswerDocument) -> list[SectionText]:
    """The sections of a document that are on, with what was set of each."""
    choices: Mapping[str, Any] = row.sections if isinstance(row.sections, Mapping) else {}
    listed = []
    for section in split_document(row.title, row.content):
        choice = choices.get(section.name)
        own: Mapping[str, Any] = choice if isinstance(choice, Mapping) else {}
        if own.get("off") is not True:
            asked_as = tuple(text for text in own.get("askedAs") or () if isinstance(text, str))
            weight, group = float(own.get("weight") or 1), (row.user_group or "").strip()
            listed.append(SectionText(row.document_id, section, section.list_passages(), asked_as, weight, group))
    return listed
