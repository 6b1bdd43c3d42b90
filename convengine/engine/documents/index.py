"""The sections of all answer documents of a configuration, ready to be searched."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import astuple
from typing import Any

import numpy as np

from convengine.engine.cached_property import cached_property
from convengine.engine.documents.finder import FoundSection, SectionFinder, SectionText
from convengine.engine.documents.sections import split_document
from convengine.engine.turn import live_settings, rows
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.understanding.encoder import Vector
from convengine.engine.understanding.phrases.book import get_phrase_book
from convengine.engine.understanding.phrases.encoders import Encoder, encode_passages
from convengine.engine.understanding.phrases.models import VECTOR_TYPE, load_ready, may_wait, name_vector
from convengine.engine.understanding.phrases.settings import EMBEDDING_MODEL
from convengine.engine.understanding.phrases.store import ModelStore
from convengine.engine.understanding.phrases.wording import list_keys

#: How many sections a message is answered with.
MOST_CARDS = 3


class DocumentIndex:
    """The sections that are on, of all documents that are on."""

    def __init__(self, documents: Sequence[rows.AnswerDocument], encoder: str) -> None:
        """`encoder`: the embedding model; blank for none."""
        self.sections = [section for row in documents for section in split_row(row)]
        self._documents, self._encoder = documents, encoder
        self._finder: SectionFinder | None = None

    def list_vector_names(self, document: int | None = None) -> frozenset[str]:
        """The names of the stored vectors that a document needs, or all."""
        sections = (section for section in self.sections if document in (None, section.document))
        return frozenset(_name_vectors(section, self._encoder) for section in sections)

    @cached_property
    def _asked_as(self) -> frozenset[tuple[str, ...]]:
        """The questions in *asked as* of sections that all users see, each as its words."""
        sections = (section for section in self.sections if not section.user_group)
        return frozenset(list_keys(text) for section in sections for text in section.asked_as)

    def is_asked_as(self, message: str | None) -> bool:
        """True if a section that all users see has these words in *asked as*."""
        return bool(self._asked_as) and list_keys(message or "") in self._asked_as

    @cached_property
    def digest(self) -> str:
        """What it finds depends on this and the message only."""
        return hashlib.sha256(json.dumps([self._encoder, *map(astuple, self._documents)]).encode()).hexdigest()[:16]

    def find(self, message: str, user_group: str = "") -> tuple[FoundSection, ...]:
        """The sections that may answer a message, the likeliest first; none while their vectors are being made."""
        # Of very many sections, the process makes it before turns need it (`prepare_answers`).
        if self._finder is None and self.sections and may_wait(len(self.sections)):
            ready = _load_vectors(self.sections, self._encoder)
            self._finder = SectionFinder(self.sections, *ready) if ready else None
        return self._finder.find(message, MOST_CARDS + 1, user_group) if self._finder else ()


def prepare_answers(snapshot: Snapshot) -> None:
    """Have lines and documents ready before a turn asks for them."""
    message = "Hello"
    get_phrase_book(snapshot).find_lines(message)
    get_document_index(snapshot).find(message)


def get_document_index(snapshot: Snapshot) -> DocumentIndex:
    """The index of a configuration; made once per version of the table."""
    encoder = live_settings.read(snapshot, EMBEDDING_MODEL).value.strip()
    documents, memo = snapshot.enabled_rows(rows.AnswerDocument), snapshot.table(rows.AnswerDocument).memo
    return memo.get(("document index", encoder), lambda: DocumentIndex(documents, encoder))


def split_row(row: rows.AnswerDocument) -> list[SectionText]:
    """The sections of a document that are on, with what was set of each."""
    choices: Mapping[str, Any] = row.sections if isinstance(row.sections, Mapping) else {}
    listed = []
    for section in split_document(row.title, row.content):
        choice = choices.get(section.name)
        own: Mapping[str, Any] = choice if isinstance(choice, Mapping) else {}
        if own.get("off") is not True:
            # A script may have stored anything.
            questions, weight = own.get("askedAs"), own.get("weight")
            texts = questions if isinstance(questions, list) else ()
            asked_as = tuple(text for text in texts if isinstance(text, str))
            factor = float(weight) if isinstance(weight, int | float) else 1.0
            group = (row.user_group or "").strip()
            listed.append(SectionText(row.document_id, section, section.list_passages(), asked_as, factor, group))
    return listed


def _load_vectors(sections: Sequence[SectionText], encoder: str) -> tuple[Encoder, list[Vector]] | None:
    """An encoder, and for each section the vectors of its texts, a row for each; stored as those of phrases are.

    Returns None if the service fails, and if a turn should not wait for them: then they are made in the background.
    """
    texts = {_name_vectors(section, encoder): section.list_compared() for section in sections}

    def load(store: ModelStore, compared: Encoder, most_new: int | None) -> dict[str, Vector]:
        packed = dict(store.load_vectors([*texts]))
        for name in [name for name in texts if name not in packed][:most_new]:
            packed[name] = np.stack(encode_passages(compared.name, texts[name])).astype(VECTOR_TYPE).tobytes()
            # One by one, so that a failure loses little.
            store.save_vectors({name: packed[name]})
        return {name: _unpack(packed[name], len(texts[name]), compared) for name in texts if name in packed}

    ready = load_ready(encoder, [*texts], load)
    return ready and (ready[0], [ready[1][_name_vectors(section, encoder)] for section in sections])


def _name_vectors(section: SectionText, encoder: str) -> str:
    return name_vector("\n".join(["passages", *section.list_compared()]), encoder)


def _unpack(packed: bytes, rows_of_section: int, encoder: Encoder) -> Vector:
    stored = np.frombuffer(packed, VECTOR_TYPE).reshape(rows_of_section, -1).astype(np.float32)
    return stored if encoder.center is None else np.stack([encoder.adjust(row) for row in stored])
