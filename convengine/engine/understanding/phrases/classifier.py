"""A classifier that phrases train: multinomial logistic regression over words, letters and sentence vectors.

It is kept as one weight for each phrase and intent: how much a message that is like the phrase speaks for the intent.
So what it needs besides are the phrases themselves, and what a decision comes from are phrases that people wrote.
Words and letters of very many texts, whose products would take too much time and memory, are hashed into columns, and
it is kept as one weight for each column and intent.

"None of them" is a class of its own, of general sentences (`none_of_them.toml`) that are not near to any phrase.
"""

import io
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from math import sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from convengine.engine.understanding.encoder import Vector
from convengine.engine.understanding.language import LEARNED_FROM, read_table
from convengine.engine.understanding.phrases.encoders import BUILT_IN, NO_VECTORS, Encoder
from convengine.engine.understanding.phrases.features import Numbers, Synonyms, Terms, TextTable
from convengine.engine.understanding.phrases.terms import find_main_languages

#: How sharp the classifier is: the inverse of its regularization.
_SHARPNESS = 20.0
#: How much a vector counts beside words and letters: its square is its share, theirs is 1 each.
VECTOR_SHARE = 4.0
#: What texts have in common with themselves.
WHOLE = VECTOR_SHARE + 2
#: How much a word of an intent counts beside a phrase.
_WORDS_SHARE = 0.5
#: General sentences that are so near to a phrase are none of "none of them".
_NEAR_PHRASE = 0.4
#: But the farthest of them always are: without any, every message would be some intent.
_FEWEST_GENERAL = 20
#: Up to this number of texts, products of texts train the classifier. Above it, hashed terms do.
_MOST_PRODUCTS = 3000
#: How they are trained: how many texts a step has, how often each of them counts, the fewest steps, the pace of the
#: first step, and how much of earlier steps stays.
_PART, _ROUNDS, _FEWEST_STEPS, _PACE, _MEAN, _SQUARE = 256, 15, 300, 0.03, 0.9, 0.99
#: The class "none of them".
_NONE = ""


class Example(NamedTuple):
    """A phrase, and the intent that it means: a code in capitals."""

    intent: str
    text: str


class Ranked(NamedTuple):
    """An intent that a message may mean."""

    intent: str
    #: From 0 to 1; it is comparable between intents of many and of few phrases.
    confidence: float
    #: The phrase of the intent that is nearest to the message, and how near it is.
    phrase: str
    likeness: float


class TrainingFailed(Exception):
    """The process that learns very many phrases ended without a result."""


class Weights(NamedTuple):
    """What is learned: a column for each class, and what each class has beforehand.

    There is a row for each text; if these are very many, one for each column of hashed terms and of vectors.
    """

    by_row: npt.NDArray[np.float16]
    beforehand: Numbers

    def pack(self) -> bytes:
        packed = io.BytesIO()
        np.savez_compressed(packed, by_row=self.by_row, beforehand=self.beforehand)
        return packed.getvalue()

    @classmethod
    def unpack(cls, stored: bytes) -> "Weights":
        """The stored weights. Raises ValueError, KeyError or OSError for other bytes."""
        with np.load(io.BytesIO(stored), allow_pickle=False) as arrays:
            return cls(arrays["by_row"], arrays["beforehand"])


class IntentRanker:
    """Ranks the intents that a message may mean."""

    def __init__(self, texts: "TrainingTexts", weights: Weights) -> None:
        self._texts = texts
        self._by_term = weights.by_row.astype(np.float32)
        self._beforehand = weights.beforehand
        if texts.are_hashed:
            self._by_term, self._by_vector = np.split(self._by_term, [len(self._by_term) - texts.vectors.shape[1]])
            self._by_vector = self._by_vector * sqrt(VECTOR_SHARE)
        else:
            self._by_vector = VECTOR_SHARE * (texts.vectors.T @ self._by_term)
        of_phrases = texts.classes_of_texts[: texts.phrases]
        self._members = [np.flatnonzero(of_phrases == each) for each in range(1, len(texts.classes))]
        #: The odds that an intent needs for a confidence of one half, by the numbers of its phrases and of all phrases.
        #: One of few phrases gets low odds even if it is right, and the more so the more other phrases there are.
        #: Chosen on public sets, with 1 to 20 phrases of 1 to 110 intents (docs/understanding.md).
        self._odds_needed = np.array([0.48 * len(own) / sqrt(1 + texts.phrases / 35) for own in self._members])

    @property
    def substitution(self) -> str:
        """Blank, unless it does without vectors."""
        return NO_VECTORS if self.encoder.name == NO_VECTORS else ""

    @property
    def encoder(self) -> Encoder:
        return self._texts.encoder

    @property
    def phrases(self) -> frozenset[Example]:
        return self._texts.list_phrases()

    @property
    def vectors(self) -> Mapping[str, Vector]:
        return dict(zip(self._texts.texts, self._texts.vectors, strict=True))

    def rank(self, text: str, most: int) -> tuple[Ranked, ...]:
        table = self._texts.table
        terms = table.compute_terms(text)
        shared, vector = table.compare(terms), _lengthen(self.encoder.encode(text), terms)
        by_term = table.hash_terms(terms) if self._texts.are_hashed else shared
        scores = by_term @ self._by_term + vector @ self._by_vector + self._beforehand
        probabilities = np.exp(scores - np.logaddexp.reduce(scores))[1:]
        confidences = probabilities / (probabilities + (1 - probabilities) * self._odds_needed)
        best = np.argsort(-confidences, kind="stable")[:most]
        ranked: list[Ranked] = []
        for each in map(int, best):
            members = self._members[each]
            likeness = (shared[members] + VECTOR_SHARE * (self._texts.vectors[members] @ vector)) / self._texts.whole
            nearest, confidence = int(likeness.argmax()), round_share(confidences[each])
            intent, phrase = self._texts.classes[each + 1], self._texts.texts[members[nearest]]
            ranked.append(Ranked(intent, confidence, phrase, round_share(likeness[nearest])))
        return tuple(ranked)

    def list_likenesses(self, text: str) -> Iterator[tuple[Example, float]]:
        texts, vector = self._texts, self.vectors.get(text)
        terms = texts.table.compute_terms(text)
        vector = _lengthen(self.encoder.encode(text) if vector is None else vector, terms)
        shared = texts.table.compare(terms)[: texts.phrases]
        likenesses = (shared + VECTOR_SHARE * (texts.vectors[: texts.phrases] @ vector)) / texts.whole
        examples = map(Example, texts.intents, texts.texts)
        return zip(examples, map(float, likenesses), strict=False)


class Content(NamedTuple):
    """All that a classifier is made from, besides the general sentences."""

    examples: tuple[Example, ...]
    #: Words of the intents that are no sentences: their names, and the options of their forms.
    words: tuple[Example, ...] = ()
    synonyms: Synonyms = ()
    #: What gives the texts their vectors; blank for the encoder of this process.
    encoder: str = ""
    #: The languages that the texts may be in.
    languages: tuple[str, ...] = LEARNED_FROM

    def list_texts(self) -> list[str]:
        """The texts whose vectors are needed."""
        own = (example.text for example in (*self.examples, *self.words))
        # What the vectors of a service have in common is seen in all languages.
        general = list_general_sentences() if self.encoder else self.list_general_sentences()
        return [*dict.fromkeys((*own, *general))]

    def list_general_sentences(self) -> tuple[str, ...]:
        """The sentences of "none of them" in the languages of the phrases.

        In another language they would only say which language a message is in.
        """
        languages = find_main_languages(sorted({example.text for example in self.examples}), self.languages)
        return list_general_sentences(*(language.tables.name for language in languages))


def _lengthen(vector: Vector, terms: Terms) -> Vector:
    """The vector of a message, longer the fewer of its words are known: what words do not say, meaning does.

    So a message in a language of no phrase is understood, too.
    """
    return vector * np.float32(sqrt((WHOLE - terms.known) / VECTOR_SHARE))


class TrainingTexts:
    """The texts that train a classifier, in an order that only depends on them, with their vectors."""

    def __init__(self, content: Content, vectors: Mapping[str, Vector], encoder: Encoder = BUILT_IN) -> None:
        """`vectors`: those of all texts (`Content.list_texts`), by this encoder."""
        self.encoder = encoder
        phrases = sorted(set(content.examples))
        listed = [*phrases, *sorted(set(content.words) - set(phrases))]
        general = _list_far(
            {text: vectors[text] for text in content.list_general_sentences()},
            [vectors[example.text] for example in phrases],
        )
        self.texts = [*(example.text for example in listed), *general]
        self.intents = [*(example.intent for example in listed), *([_NONE] * len(general))]
        #: The first texts are the phrases.
        self.phrases = len(phrases)
        self.shares = np.ones(len(self.texts))
        self.shares[len(phrases) : len(listed)] = _WORDS_SHARE
        #: "None of them" is the first one.
        self.classes = sorted({*self.intents, _NONE})
        self.classes_of_texts = np.searchsorted(self.classes, self.intents)
        #: With the digits that are stored; of very many texts no others are in memory.
        self.vectors: Vector = np.stack([vectors[text] for text in self.texts])
        if not self.are_hashed:
            self.vectors = self.vectors.astype(np.float32)
        self.table = TextTable(self.texts, content.synonyms)
        #: What texts have in common with themselves.
        self.whole = WHOLE if self.vectors.size else WHOLE - VECTOR_SHARE

    @property
    def are_hashed(self) -> bool:
        """True for very many texts."""
        return len(self.texts) > _MOST_PRODUCTS

    def list_phrases(self) -> frozenset[Example]:
        """The phrases, without words of intents and general sentences."""
        listed = zip(self.intents[: self.phrases], self.texts[: self.phrases], strict=True)
        return frozenset(Example(intent, text) for intent, text in listed)


def _list_far(sentences: Mapping[str, Vector], phrases: Sequence[Vector]) -> list[str]:
    """Drop the sentences that are near to a phrase; the order stays."""
    listed = np.stack([*sentences.values()]).astype(np.float32)
    parts = (phrases[start : start + _MOST_PRODUCTS] for start in range(0, len(phrases), _MOST_PRODUCTS))
    likeness = np.max([(listed @ np.stack(part).astype(np.float32).T).max(axis=1) for part in parts], axis=0)
    nearest = dict(zip(sentences, map(float, likeness), strict=True))
    limit = max(_NEAR_PHRASE, *sorted(nearest.values())[:_FEWEST_GENERAL])
    return [text for text, near in nearest.items() if near <= limit]


@lru_cache
def list_general_sentences(*languages: str) -> tuple[str, ...]:
    """The sentences of "none of them". Without languages: those from which all is learned."""
    names = languages or LEARNED_FROM
    return tuple(text for name in names for text in read_table(name, "none_of_them").get("sentences", ()))


def train(texts: TrainingTexts) -> Weights:
    """The weights of the texts. The same texts give the same weights, as one thread sums in one order."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        return _train_by_parts(texts) if texts.are_hashed else _train_at_once(texts)


def _train_at_once(texts: TrainingTexts) -> Weights:
    """The weights of few texts, by their products, which are fewer than their terms."""
    from sklearn.linear_model import LogisticRegression

    words = (texts.table.matrix @ texts.table.matrix.T).toarray()
    products = words + VECTOR_SHARE * (texts.vectors @ texts.vectors.T)
    # The same text may stand for two intents.
    products[np.diag_indices_from(products)] += 1e-4
    #: A row for each text; two rows have the product of their texts.
    design = np.linalg.cholesky(products.astype(np.float64)).astype(np.float32)
    model = LogisticRegression(C=_SHARPNESS, max_iter=300).fit(design, texts.classes_of_texts, texts.shares)
    by_row = np.linalg.solve(design.T.astype(np.float64), model.coef_.T.astype(np.float64))
    intercepts = model.intercept_
    if len(texts.classes) == 2:
        by_row = np.hstack([np.zeros_like(by_row), by_row])
        intercepts = np.array([0.0, *intercepts])
    return Weights(by_row.astype(np.float16), intercepts.astype(np.float32))


def _train_by_parts(texts: TrainingTexts) -> Weights:
    """The weights of very many texts, by small steps (Adam), each by some texts: nothing of all texts and classes is
    in memory at once.
    """
    hashed, vectors, classes = texts.table.hash_texts(), texts.vectors, texts.classes_of_texts
    shape = hashed.shape[1] + vectors.shape[1] + 1, len(texts.classes)
    weights, means, squares = (np.zeros(shape, np.float32) for _ in range(3))
    penalty = np.float32(1 / (_SHARPNESS * len(classes)))
    order, parts = np.random.default_rng(0), -(-len(classes) // _PART)
    steps = max(_ROUNDS * parts, _FEWEST_STEPS)
    for step in range(steps):
        if step % parts == 0:
            chosen = order.permutation(len(classes))
        part = chosen[step % parts * _PART : (step % parts + 1) * _PART]
        lengthened = vectors[part].astype(np.float32) * np.float32(sqrt(VECTOR_SHARE))
        design = np.hstack([hashed[part].toarray(), lengthened, np.ones((len(part), 1), np.float32)])
        scores = design @ weights
        scores -= scores.max(axis=1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=1, keepdims=True)
        scores[np.arange(len(part)), classes[part]] -= 1
        scores *= (texts.shares[part] / len(part)).astype(np.float32)[:, None]
        pace = _PACE * (1 - step / steps)
        # By rows, so that what is computed in between is small.
        for rows in np.array_split(np.arange(shape[0]), -(-shape[0] // _PART)):
            own = slice(rows[0], rows[-1] + 1)
            gradient = design[:, own].T @ scores
            gradient += penalty * weights[own]
            means[own] += np.float32(1 - _MEAN) * (gradient - means[own])
            squares[own] += np.float32(1 - _SQUARE) * (gradient * gradient - squares[own])
            root = np.sqrt(squares[own] / np.float32(1 - _SQUARE ** (step + 1))) + np.float32(1e-8)
            weights[own] -= np.float32(pace / (1 - _MEAN ** (step + 1))) * means[own] / root
    return Weights(weights[:-1].astype(np.float16), weights[-1].copy())


def round_share(share: float) -> float:
    """Three digits, and never 1: that is a message that is a phrase."""
    return min(round(float(share), 3), 0.999)
