"""Find the sections of documents that answer a message, by what they mean and by their words."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from math import exp, log
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from convengine.engine.documents.sections import Passage, Section
from convengine.engine.understanding.encoder import Vector
from convengine.engine.understanding.phrases.classifier import round_share
from convengine.engine.understanding.phrases.encoders import Encoder
from convengine.engine.understanding.phrases.terms import PhraseLanguage, find_main_languages
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

    def __init__(self, sections: Sequence[SectionText], encoder: Encoder, vectors: Sequence[Vector]) -> None:
        """`vectors`: for each section those of what is compared, one row for each text, by this encoder."""
        self._sections, self._encoder = sections, encoder
        self._of_passage = [(section, passage) for section in sections for passage in section.passages]
        self._passages: Vector = np.concatenate(
            [rows[: len(section.passages)] for section, rows in zip(sections, vectors, strict=True)]
        ).astype(np.float32)
        #: The vectors of the sentences of each passage. Questions count for the first one.
        self._sentences: list[npt.NDArray[np.float16]] = []
        for section, rows in zip(sections, vectors, strict=True):
            ends = np.cumsum([len(section.passages), *(len(passage.sentences) for passage in section.passages)])
            own = [rows[start:end] for start, end in pairwise(ends)]
            own[0] = np.concatenate([own[0], rows[ends[-1] :]])
            self._sentences += [part.astype(np.float16) for part in own]
        texts = [" ".join([*section.section.titles * _TITLE, passage.text]) for section, passage in self._of_passage]
        self._words = _Words(texts)

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

    def __init__(self, texts: Sequence[str]) -> None:
        # It takes a while to import, and only who has documents needs it.
        from scipy.sparse import csr_matrix

        self._languages = find_main_languages(texts)
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
