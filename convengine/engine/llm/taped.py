"""Record model calls, and answer from the recording in a replay (R32)."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from typing import Any

from convengine.engine.turn.codec import to_plain
from convengine.engine.turn.ports import LikenessAnswer, LikenessPort, LlmAnswer, LlmRequest, ModelPort
from convengine.engine.turn.recording import Tape


class TapedModel:
    """The model port of one turn, in front of the deployment's model."""

    def __init__(self, model: ModelPort, tape: Tape) -> None:
        self._model = model
        self._tape = tape

    @cached_property
    def configured(self) -> bool:
        """True if there is a model; recorded once per turn, so that a replay does not depend on today's deployment."""
        return bool(self._tape.ask("model.configured", None, lambda: self._model.configured))

    def complete(self, request: LlmRequest) -> LlmAnswer:
        return _read_answer(
            self._tape.ask("model", to_plain(asdict(request)), lambda: to_plain(asdict(self._model.complete(request))))
        )

    def allows(self, name: str) -> bool:
        """True if a model of this name exists; recorded, because the deployment of a replay may have others."""
        return bool(self._tape.ask("model.allows", name, lambda: self._model.allows(name)))

    def sum_cost(self, conversation_id: str) -> float:
        """The cost of earlier calls."""
        return float(self._tape.ask("model.spent", conversation_id, lambda: self._model.sum_cost(conversation_id)))


def _read_answer(stored: Mapping[str, Any]) -> LlmAnswer:
    return LlmAnswer(**{**stored, "earlier": tuple(_read_answer(attempt) for attempt in stored.get("earlier", ()))})


class TapedLikeness:
    """Sentence similarity, in front of the deployment's implementation."""

    def __init__(self, vectors: LikenessPort, tape: Tape) -> None:
        self._vectors = vectors
        self._tape = tape

    def likeness(self, text: str, others: Sequence[str]) -> LikenessAnswer:
        """Compare texts. The recording keeps a digest of the others, because they are rows of the release."""
        digest = hashlib.sha256("\0".join(others).encode("utf-8", "replace")).hexdigest()
        request = {"text": text, "count": len(others), "digest": digest}
        answer = self._tape.ask("likeness", request, lambda: to_plain(asdict(self._vectors.likeness(text, others))))
        return LikenessAnswer(**{**answer, "scores": tuple(answer["scores"])})
