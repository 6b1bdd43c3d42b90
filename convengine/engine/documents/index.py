"""The sections of all answer documents of a configuration, ready to be searched."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import astuple
from itertools import pairwise
from math import exp, log
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from convengine.engine.cached_property import cached_property
from convengine.engine.documents.sections import Passage, Section, split_document
from convengine.engine.turn import live_settings, rows
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.understanding.encoder import Vector
from convengine.engine.understanding.language import LEARNED_FROM, list_own_languages
from convengine.engine.understanding.phrases.book import get_phrase_book
from convengine.engine.understanding.phrases.classifier import round_share
from convengine.engine.understanding.phrases.encoders import Encoder, encode_passages
from convengine.engine.understanding.phrases.models import VECTOR_TYPE, load_ready, may_wait, name_vector
from convengine.engine.understanding.phrases.settings import EMBEDDING_MODEL
from convengine.engine.understanding.phrases.store import ModelStore
from convengine.engine.understanding.phrases.terms import PhraseLanguage, find_main_languages
from convengine.engine.understanding.phrases.wording import list_keys
from convengine.engine.understanding.words import split_text

#: How many passages have their sentences compared.
_COMPARED = 100
#: How much words count beside meaning, and how often a title counts.
_WORDS, _TITLE = 0.5, 2
#: How fast a repeated word counts less, and how much the length of a passage matters (BM25).
_SATURATION, _LENGTH = 1.2, 0.75
#: Sentences of a section that are shown.
_SHOWN = 2
#: The score that means a section as likely as not, and how much more makes it how much likelier. Chosen on blind sets.
_EVEN, _WIDTH = 0.68, 0.1
#: How many sections a message is answered with.
MOST_CARDS = 3


class SectionText(NamedTuple):
    """A section of a document, with what is compared with messages."""

    #: The document's key.
    document: int
    section: Section
    passages: Sequence[Passage]
    #: Questions that the section answers, as people ask them: they count like sentences of it.
    asked_as: tuple[str, ...] = ()
    #: How many times its score counts.
    weight: float = 1.0
    #: Only users of this group see it; blank for all.
    user_group: str = ""

    def list_compared(self) -> list[str]:
        """Each passage with its titles, then each sentence and question with the last title."""
        whole, last = " ".join(self.section.titles), self.section.titles[-1]
        sentences = [f"{last}: {sentence}" for passage in self.passages for sentence in passage.sentences]
        return [*(f"{whole} {passage.text}" for passage in self.passages), *sentences, *self.asked_as]


class FoundSection(NamedTuple):
    """A section that may answer a message."""

    text: SectionText
    score: float
    #: From 0 to 1, comparable with that of an intent.
    confidence: float
    #: How like the message its best passage and its best sentence are, and the share of words, in that order.
    parts: tuple[float, float, float]
    #: The sentences that are shown, in the order of the text.
    sentences: tuple[str, ...]
    #: They follow each other in the text.
    are_neighbours: bool = True


class SectionFinder:
    """Finds sections by the cosines to passage and best sentence, and by words (BM25)."""

    def __init__(
        self,
        sections: Sequence[SectionText],
        encoder: Encoder,
        vectors: Sequence[Vector],
        languages: Sequence[str] = LEARNED_FROM,
    ) -> None:
        """`vectors`: for each section those of what is compared, one row for each text, by this encoder."""
        self._sections, self._encoder = sections, encoder
        self._of_passage = [(section, passage) for section in sections for passage in section.passages]
        self._passages: Vector = np.concatenate(
            [matrix[: len(section.passages)] for section, matrix in zip(sections, vectors, strict=True)]
        ).astype(np.float32)
        #: The vectors of the sentences of each passage. Questions count for the first one.
        self._sentences: list[npt.NDArray[np.float16]] = []
        for section, matrix in zip(sections, vectors, strict=True):
            ends = np.cumsum([len(section.passages), *(len(passage.sentences) for passage in section.passages)])
            own = [matrix[start:end] for start, end in pairwise(ends)]
            own[0] = np.concatenate([own[0], matrix[ends[-1] :]])
            self._sentences += [part.astype(np.float16) for part in own]
        texts = [" ".join([*section.section.titles * _TITLE, passage.text]) for section, passage in self._of_passage]
        self._words = _Words(texts, languages)

    def find(self, message: str, most: int, user_group: str = "") -> tuple[FoundSection, ...]:
        """The sections that may answer a message of a user of a group, the likeliest first, at most `most`."""
        vector = self._encoder.encode(message)
        by_passage, by_words = self._passages @ vector, self._words.rate(message)
        scores = by_passage + _WORDS * by_words
        best: dict[int, tuple[float, int]] = {}
        for each in np.argsort(-scores, kind="stable")[:_COMPARED]:
            section = self._of_passage[each][0]
            if section.user_group not in ("", user_group):
                continue
            by_sentence = float(self._compare_sentences(each, vector).max())
            key, score = id(section), section.weight * (float(scores[each]) + by_sentence)
            best[key] = max(best.get(key, (-1.0, -1)), (score, int(each)))
        ranked = sorted(best.values(), key=lambda entry: (-entry[0], entry[1]))[:most]
        return tuple(self._describe(each, score, vector, by_passage[each], by_words[each]) for score, each in ranked)

    def _compare_sentences(self, each: int, vector: Vector) -> Vector:
        return self._sentences[each].astype(np.float32) @ vector

    def _describe(self, each: int, score: float, vector: Vector, by_passage: float, by_words: float) -> FoundSection:
        section, passage = self._of_passage[each]
        cosines = self._compare_sentences(each, vector)
        shown = [int(at) for at in sorted(np.argsort(-cosines[: len(passage.sentences)], kind="stable")[:_SHOWN])]
        parts = (round(float(by_passage), 3), round(float(cosines.max()), 3), round(float(by_words), 3))
        return FoundSection(
            section,
            round(score, 3),
            round_share(1 / (1 + exp((_EVEN - score) / _WIDTH))),
            parts,
            tuple(passage.sentences[at] for at in shown),
            shown == [*range(shown[0], shown[-1] + 1)],
        )


class _Words:
    """How many of the words of a message texts have, rare ones counting more (BM25), from 0 to 1."""

    def __init__(self, texts: Sequence[str], languages: Sequence[str]) -> None:
        # It takes a while to import, and only who has documents needs it.
        from scipy.sparse import csr_matrix

        self._languages = find_main_languages(texts, languages)
        counts = [Counter(self._list_stems(text)) for text in texts]
        #: The column of each stem.
        self._columns = {stem: at for at, stem in enumerate(sorted(set().union(*counts)))}
        lengths = np.array([count.total() for count in counts])
        shortening = _SATURATION * (1 - _LENGTH + _LENGTH * lengths / max(lengths.mean(), 1))
        entries = [
            (row, self._columns[stem], number * (_SATURATION + 1) / (number + shortening[row]))
            for row, count in enumerate(counts)
            for stem, number in count.items()
        ]
        at_rows, at_columns, weights = zip(*entries, strict=True) if entries else ((), (), ())
        shape = len(texts), len(self._columns)
        self._weights = csr_matrix((np.array(weights, np.float32), (at_rows, at_columns)), shape=shape).tocsc()
        found_in = np.diff(self._weights.indptr)
        self._rarity = np.log(1 + (len(texts) - found_in + 0.5) / (found_in + 0.5))
        self._rarest = log(1 + (len(texts) + 0.5) / 0.5)

    def rate(self, message: str) -> Vector:
        """For each text its share of the most that the message could reach."""
        stems = dict.fromkeys(self._list_stems(message))
        columns = [self._columns[stem] for stem in stems if stem in self._columns]
        unknown = len(stems) - len(columns)
        most = (_SATURATION + 1) * (self._rarity[columns].sum() + unknown * self._rarest)
        rated = self._weights[:, columns] @ self._rarity[columns] if columns else np.zeros(self._weights.shape[0])
        return (rated / (most or 1)).astype(np.float32)

    def _list_stems(self, text: str) -> list[str]:
        return [stem for language in self._languages[:1] for stem in _list_stems(text, language)]


def _list_stems(text: str, language: PhraseLanguage) -> list[str]:
    """The words of a text without endings, and without those that say nothing alone."""
    keys = (word.key for word in split_text(text) if not word.is_sign)
    return [language.find_term(key) for key in keys if key not in language.small]


class DocumentIndex:
    def __init__(self, documents: Sequence[rows.AnswerDocument], encoder: str, languages: Sequence[str]) -> None:
        """`encoder`: the embedding model; blank for none. `languages`: those that messages may be in."""
        self.sections = [section for row in documents for section in split_row(row)]
        self._documents, self._encoder, self._languages = documents, encoder, languages
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
            self._finder = SectionFinder(self.sections, *ready, self._languages) if ready else None
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
    languages = list_own_languages(snapshot)
    return memo.get(("document index", encoder, languages), lambda: DocumentIndex(documents, encoder, languages))


def split_row(row: rows.AnswerDocument) -> list[SectionText]:
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
