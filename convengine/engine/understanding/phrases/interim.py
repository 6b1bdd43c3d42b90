"""What answers while a classifier of many phrases is made: the last one, and new phrases by their vectors."""

from collections.abc import Collection, Iterator, Mapping

import numpy as np

from convengine.engine.understanding.encoder import Vector
from convengine.engine.understanding.phrases.classifier import Example, IntentRanker, Ranked
from convengine.engine.understanding.phrases.encoders import BUILT_IN, NO_VECTORS, Encoder

#: Why it decides.
BEING_MADE = "BEING_MADE"
#: The confidence in a new phrase is its cosine to this power: one half at 0.79, 0.1 at 0.46.
_POWER = 3


class InterimClassifier:
    """Ranks intents by the last classifier, and by the nearest of the phrases that are new since then."""

    def __init__(
        self,
        phrases: Collection[Example],
        last: IntentRanker | None,
        vectors: Mapping[str, Vector],
        encoder: Encoder = BUILT_IN,
    ) -> None:
        """`vectors`: those that are known. Phrases without one are found again when the classifier is made."""
        self._last, self._encoder = last, encoder
        listed = sorted(phrase for phrase in phrases if phrase.text in vectors)
        self._listed = listed
        stacked = np.stack([vectors[phrase.text] for phrase in listed]) if listed else np.empty((0, 0))
        self._vectors: Vector = stacked.astype(np.float32)
        self._intents = np.array([phrase.intent for phrase in listed])
        known = last.phrases if last else frozenset()
        self._is_new = np.array([phrase not in known for phrase in listed], bool)

    @property
    def substitution(self) -> str:
        """The classifier of the phrases is being made; without vectors, for another reason."""
        return NO_VECTORS if self._encoder.name == NO_VECTORS else BEING_MADE

    def rank(self, text: str, most: int) -> tuple[Ranked, ...]:
        if not self._listed:
            return ()
        cosines = self._compare(self._encoder.encode(text))
        by_new = np.where(self._is_new, cosines**_POWER, 0)
        by_last = self._last.rank(text, most) if self._last else ()
        confidences = {earlier.intent: earlier.confidence for earlier in by_last}
        for each in np.argsort(-by_new)[:most]:
            intent = self._listed[each].intent
            confidences[intent] = max(confidences.get(intent, 0.0), min(round(float(by_new[each]), 3), 0.999))
        ranked: list[Ranked] = []
        for intent, confidence in confidences.items():
            members = np.flatnonzero(self._intents == intent)
            if members.size:  # An intent of the last classifier may have no phrases any more.
                nearest = members[cosines[members].argmax()]
                likeness = round(float(cosines[nearest]), 3)
                ranked.append(Ranked(intent, confidence, self._listed[nearest].text, likeness))
        return tuple(sorted(ranked, key=lambda each: (-each.confidence, each.intent))[:most])

    def list_likenesses(self, text: str) -> Iterator[tuple[Example, float]]:
        if not self._listed:
            return iter(())
        own = (vector for phrase, vector in zip(self._listed, self._vectors, strict=True) if phrase.text == text)
        vector = next(own, None)
        likenesses = self._compare(self._encoder.encode(text) if vector is None else vector)
        return zip(self._listed, map(float, likenesses), strict=True)

    def _compare(self, vector: Vector) -> Vector:
        return (self._vectors @ vector).clip(0, 1)
