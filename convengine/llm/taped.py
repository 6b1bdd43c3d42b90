"""A model on the tape: asked once, and answering from the recording ever after (R32)."""

from collections.abc import Mapping
from dataclasses import asdict
from functools import cached_property
from typing import Any

from convengine.codec import plain
from convengine.domain.ports import LlmAnswer, LlmRequest, ModelPort
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

    def spent(self, conversation_id: str) -> float:
        """What earlier calls have cost."""
        return float(self._tape.ask("model.spent", conversation_id, lambda: self._model.spent(conversation_id)))


def _answer(stored: Mapping[str, Any]) -> LlmAnswer:
    return LlmAnswer(**{**stored, "earlier": tuple(_answer(one) for one in stored.get("earlier", ()))})
