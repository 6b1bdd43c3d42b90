"""What a change of phrases does to the phrases that stay: each is decided on without itself, before and after.

Phrases are left out exactly and all at once: with ridge regression over the features of the classifier, what the
others say of each one follows from one inverse. It is as good as the classifier and mostly of one mind with it.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from convengine.engine.understanding.encoder import Vector
from convengine.engine.understanding.phrases.classifier import VECTOR_SHARE, WHOLE, Example
from convengine.engine.understanding.phrases.features import Synonyms, TextTable
from convengine.engine.understanding.phrases.models import read_vectors

#: How many phrases are compared: the time grows with their third power. Of more, those of the nearest intents.
MOST_COMPARED = 1_200
#: How many new phrases are compared.
MOST_NEW = 500
#: Chosen on public sets, where it matters little.
_RIDGE = 1.0


class NearestPhrase(NamedTuple):
    """The phrase of another intent that is the most like a new one."""

    new: Example
    other: Example
    likeness: float
    #: Where the others lead the new one to; blank for an intent that has no other phrase.
    leads_to: str


class MovedPhrase(NamedTuple):
    """A phrase that the others lead to another intent than before."""

    phrase: Example
    before: str
    after: str


@dataclass(frozen=True)
class PhraseChange:
    #: For each new phrase that has any, the most alike first.
    nearest: tuple[NearestPhrase, ...] = ()
    moved: tuple[MovedPhrase, ...] = ()
    #: How many phrases were decided on, of how many, and of how many intents.
    compared: int = 0
    phrases: int = 0
    intents: int = 0
    #: New phrases beyond those that were compared.
    further: int = 0

    @property
    def losses(self) -> tuple[MovedPhrase, ...]:
        """Phrases that led to their intent before, and no longer do."""
        return tuple(moved for moved in self.moved if moved.before == moved.phrase.intent)

    @property
    def gains(self) -> tuple[MovedPhrase, ...]:
        """Phrases that lead to their intent now, and did not before."""
        return tuple(moved for moved in self.moved if moved.after == moved.phrase.intent)


def compare_phrases(before: Collection[Example], after: Collection[Example], synonyms: Synonyms = ()) -> PhraseChange:
    """Decide on the phrases that stay, without themselves, among the phrases before and after a change."""
    added = sorted(set(after) - set(before))
    new, known = added[:MOST_NEW], set(before) | set(after)
    if not new:
        return PhraseChange(phrases=len(known))
    known -= set(added[MOST_NEW:])
    vectors = read_vectors(list(dict.fromkeys(example.text for example in sorted(known))))
    examples = _choose_nearest(known, new, vectors)
    likenesses = _compare_all(examples, vectors, synonyms)
    decided = [
        _decide_without_each(examples, likenesses, set(phrases))
        for phrases in (before, set(after) - set(added[MOST_NEW:]))
    ]
    stay = [example for example in examples if all(example in each for each in decided)]
    moved = (MovedPhrase(example, decided[0][example], decided[1][example]) for example in stay)
    return PhraseChange(
        tuple(_list_nearest(examples, likenesses, new, set(after), decided[1])),
        tuple(each for each in moved if each.before != each.after),
        len(stay),
        len(set(before) & set(after)),
        len({example.intent for example in stay}),
        len(added) - len(new),
    )


def _choose_nearest(known: Collection[Example], new: Sequence[Example], vectors: Mapping[str, Vector]) -> list[Example]:
    """All phrases, or those of the intents that are nearest to the new ones, as many whole intents as fit."""
    if len(known) <= MOST_COMPARED:
        return sorted(known)
    by_intent: defaultdict[str, list[Example]] = defaultdict(list)
    for example in sorted(known):
        by_intent[example.intent].append(example)
    wanted = np.stack([vectors[example.text] for example in new])
    own = {example.intent for example in new}
    nearness = {
        intent: (intent in own, float((np.stack([vectors[each.text] for each in members]) @ wanted.T).max()))
        for intent, members in by_intent.items()
    }
    chosen: list[Example] = []
    for intent in sorted(by_intent, key=lambda each: nearness[each], reverse=True):
        if len(chosen) + len(by_intent[intent]) <= MOST_COMPARED:
            chosen += by_intent[intent]
    return sorted({*chosen, *new})


def _compare_all(
    examples: Sequence[Example], vectors: Mapping[str, Vector], synonyms: Synonyms
) -> npt.NDArray[np.float64]:
    """How like each other all phrases are, by the features of the classifier; a phrase and itself have `WHOLE`."""
    table = TextTable([example.text for example in examples], synonyms)
    own = np.stack([vectors[example.text] for example in examples])
    with threadpool_limits(1):
        likenesses = (table.matrix @ table.matrix.T).toarray() + VECTOR_SHARE * (own @ own.T)
    return np.asarray(likenesses, np.float64)


def _decide_without_each(
    examples: Sequence[Example], likenesses: npt.NDArray[np.float64], present: Collection[Example]
) -> dict[Example, str]:
    """The intent that each of the present phrases leads to by the other ones; blank for a phrase that is alone."""
    at = np.array([number for number, example in enumerate(examples) if example in present], np.intp)
    own = [examples[number] for number in at]
    intents = sorted({example.intent for example in own})
    if len(own) < 2:
        return dict.fromkeys(own, "")
    means = np.array([[float(example.intent == intent) for intent in intents] for example in own])
    with threadpool_limits(1):
        inverse = np.linalg.inv(likenesses[np.ix_(at, at)] + _RIDGE * np.eye(len(own)))
        left_out = means - (inverse @ means) / np.diag(inverse)[:, None]
    return {example: intents[best] for example, best in zip(own, left_out.argmax(axis=1), strict=True)}


def _list_nearest(
    examples: Sequence[Example],
    likenesses: npt.NDArray[np.float64],
    new: Collection[Example],
    after: Collection[Example],
    decided: Mapping[Example, str],
) -> list[NearestPhrase]:
    intents = np.array([example.intent for example in examples])
    is_present = np.array([example in after for example in examples])
    nearest = []
    for number, example in enumerate(examples):
        others = np.flatnonzero(is_present & (intents != example.intent))
        if example in new and len(others):
            best = int(others[likenesses[number, others].argmax()])
            is_alone = not (is_present & (intents == example.intent)).sum() > 1
            leads_to = "" if is_alone else decided[example]
            likeness = round(float(likenesses[number, best]) / WHOLE, 3)
            nearest.append(NearestPhrase(example, examples[best], likeness, leads_to))
    return sorted(nearest, key=lambda each: -each.likeness)
