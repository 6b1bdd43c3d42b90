"""A model on the tape: asked once, and answering from the recording ever after (R32)."""

from dataclasses import asdict
from functools import cached_property

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
        return LlmAnswer(
            **self._tape.ask("model", plain(asdict(request)), lambda: asdict(self._model.complete(request)))
        )
