"""What a clause does, learned from the sentences of the languages' tables (`sentences.toml`; docs/forms.md).

The weights beside this module are made by `python -m tests.learning`.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from importlib import resources

import numpy as np
import numpy.typing as npt

from convengine.engine.turn.ports import LearnedPort, LearnedSubject
from convengine.engine.understanding.encoder import encode, encode_text
from convengine.engine.understanding.language import LEARNED_FROM, list_languages, read_table
from convengine.engine.understanding.words import split_text
from convengine.json_value import Json

FILE = "sentences.npz"
#: The class of sentences that are no move.
NONE = "NONE"
ASKS = "asks"
_SHARPNESS = 20
Matrix = npt.NDArray[np.float32]
#: The digits of a probability that count. The last bits of a vector depend on the processor; decisions must not.
_DIGITS = 3


class LearnedPart(StrEnum):
    """What is learned: a part of the tables."""

    #: Which move a clause is.
    MOVES = "moves"
    #: Whether a clause asks for information or wishes something.
    ASKS = "asks"
    #: Whether a field by its title and question takes whole sentences or a few words.
    TEXTS = "texts"


@dataclass(frozen=True, eq=False)
class Regression:
    """The weights: one row for each class. The last number of a row is the bias."""

    classes: tuple[str, ...]
    weights: Matrix

    def rate(self, vector: Matrix) -> Mapping[str, float]:
        """The probability of each class."""
        scores = self.weights[:, :-1] @ vector + self.weights[:, -1]
        powers = np.exp(scores - scores.max())
        shares = powers / powers.sum()
        return {name: round(float(share), _DIGITS) for name, share in zip(self.classes, shares, strict=True)}


def fit(vectors: Matrix, classes: Sequence[str], sharpness: float) -> Regression:
    """Learn the class of each row of the vectors. `sharpness`: how closely the examples are followed (C)."""
    # The libraries of machine learning take a second and 90 MB, and only who learns needs them.
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        learned = LogisticRegression(C=sharpness, max_iter=2000).fit(vectors, classes)
    weights = np.column_stack([learned.coef_, learned.intercept_])
    if len(learned.classes_) == 2:  # One row says how much more likely the second class is.
        weights = np.stack([np.zeros_like(weights[0]), weights[0]])
    return Regression(tuple(map(str, learned.classes_)), weights.astype(np.float32))


def list_sentences(subject: LearnedPart, languages: Collection[str] = ()) -> list[tuple[str, str]]:
    """The sentences of the languages, by default of all, each with its class."""
    tables = [read_table(language, "sentences") for language in languages or list_languages()]
    sentences = [
        (sentence, name) for table in tables for name, listed in table.get(subject, {}).items() for sentence in listed
    ]
    if subject is LearnedPart.MOVES:
        sentences += [(sentence, NONE) for sentence, _ in list_sentences(LearnedPart.ASKS, languages)]
    return sentences


def learn(subject: LearnedPart) -> Regression:
    sentences, classes = zip(*list_sentences(subject, LEARNED_FROM), strict=True)
    return fit(encode(sentences), classes, _SHARPNESS)


def rate(subject: LearnedPart, text: str) -> Mapping[str, float]:
    """The probability of each class of a subject."""
    return _load()[subject].rate(encode_text(text))


@lru_cache(4096)
def rate_question(text: str) -> Mapping[str, float]:
    """The probability of each kind of text for a title and a question of a form, which each turn asks for again."""
    return rate(LearnedPart.TEXTS, text)


def decide(learned: LearnedPort, subject: LearnedPart, text: str) -> tuple[str, float]:
    """The likeliest class of a text, and its probability; less than 1, which only words of the tables have."""

    def compute() -> Json:
        rated = rate_question(text) if subject is LearnedPart.TEXTS else rate(subject, text)
        name = max(rated, key=lambda name: rated[name])
        return [name, rated[name]]

    name, probability = learned.decide(LearnedSubject(subject.value), text, compute)
    return str(name), min(0.999, float(probability))


def find_nearest(subject: LearnedPart, text: str, name: str, languages: Collection[str] = ()) -> str:
    """The sentence of a class that means the most similar, in one of the languages if they have any of the class."""
    listed = list_sentences(subject, languages), list_sentences(subject)
    sentences = next(filter(None, ([sentence for sentence, own in each if own == name] for each in listed)))
    return sentences[int(np.argmax(encode(sentences) @ encode_text(text)))]


@lru_cache(1)
def list_known_words() -> frozenset[str]:
    """The words of the sentences. Of a clause of other words, such as names, the encoder can tell nothing."""
    sentences = [
        sentence for subject in (LearnedPart.MOVES, LearnedPart.ASKS) for sentence, _ in list_sentences(subject)
    ]
    return frozenset(word.key for sentence in sentences for word in split_text(sentence) if not word.is_sign)


@lru_cache(1)
def _load() -> Mapping[LearnedPart, Regression]:
    """The stored weights of each subject."""
    file = resources.files("convengine.engine.understanding") / FILE
    with file.open("rb") as stored, np.load(stored, allow_pickle=False) as arrays:
        return {
            subject: Regression(
                tuple(map(str, arrays[f"{subject}.classes"])), arrays[f"{subject}.weights"].astype(np.float32)
            )
            for subject in LearnedPart
        }
