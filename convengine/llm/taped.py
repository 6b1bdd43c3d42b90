"""Models on the tape: asked once, and answering from the recording ever after (R32)."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from typing import Any

from convengine.codec import plain
from convengine.domain.ports import LikenessAnswer, LikenessPort, LlmAnswer, LlmRequest, ModelPort
from convengine.domain.recording import Tape


class TapedModel:
    """The model port of one turn, in front of whichever model the deployment has."""

    def __init__(self, model: ModelPort, tape: Tape) -> None:
        self._model = model
        self._tape = tape

    @cached_property
    def configured(self) -> bool:
        """Whether there is a model; asked once a turn, so that a replay does not depend on today's deployment."""
        return bool(self._tape.ask("model.configured", None, lambda: self._model.configured))

    def complete(self, request: LlmRequest) -> LlmAnswer:
        """Ask the model."""
        return _answer(
            self._tape.ask("model", plain(asdict(request)), lambda: plain(asdict(self._model.complete(request))))
        )

    def allows(self, name: str) -> bool:
        """Whether there is a model of this name; on the tape, as the deployment of a replay may have others."""
        return bool(self._tape.ask("model.allows", name, lambda: self._model.allows(name)))

    def spent(self, conversation_id: str) -> float:
        """What earlier calls have cost."""
        return float(self._tape.ask("model.spent", conversation_id, lambda: self._model.spent(conversation_id)))


def _answer(stored: Mapping[str, Any]) -> LlmAnswer:
    return LlmAnswer(**{**stored, "earlier": tuple(_answer(one) for one in stored.get("earlier", ()))})


class TapedLikeness:
    """Sentence vectors, in front of whichever the deployment has."""

    def __init__(self, vectors: LikenessPort, tape: Tape) -> None:
        self._vectors = vectors
        self._tape = tape

    def likeness(self, text: str, others: Sequence[str]) -> LikenessAnswer:
        """Compare. Of the others the tape keeps a digest: they are rows of the release."""
        digest = hashlib.sha256("\0".join(others).encode("utf-8", "replace")).hexdigest()
        request = {"text": text, "count": len(others), "digest": digest}
        answer = self._tape.ask("likeness", request, lambda: plain(asdict(self._vectors.likeness(text, others))))
        return LikenessAnswer(**{**answer, "scores": tuple(answer["scores"])})
