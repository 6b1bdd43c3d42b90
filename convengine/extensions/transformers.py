"""Asking registered response transformers: on the tape, faults as answers (pipeline-2 9.6)."""

from collections.abc import Mapping
from typing import Any

from convengine.codec import plain, strict
from convengine.domain.facts import session_dict
from convengine.domain.params import shown
from convengine.domain.payload import JsonPayload, Payload, TextPayload
from convengine.domain.ports import TransformAnswer
from convengine.domain.recording import Tape
from convengine.domain.session import Session
from convengine.extensions.registry import Registry
from convengine.extensions.scoped import transformer_for


class ResponseTransformers:
    """The transformers port."""

    def __init__(self, registry: Registry, tape: Tape) -> None:
        self._registry = registry
        self._tape = tape

    def transform(self, stage: str, payload: Payload, session: Session) -> TransformAnswer:
        """Let the transformer of a stage that fits intent and state change the answer."""
        # Asked without transformers as well: a replay must not depend on which there are by then.
        found = self._tape.ask("transform", stage, lambda: self._call(stage, payload, session))
        changed = found["payload"]
        return TransformAnswer(
            None if changed is None else _KINDS[changed["type"]](changed["value"]),
            found["transformer"],
            found["errorType"],
            found["errorMessage"],
        )

    def _call(self, stage: str, payload: Payload, session: Session) -> dict[str, Any]:
        found = transformer_for(self._registry.response_transformers[stage], session.intent, session.state)
        answer: dict[str, Any] = {"payload": None, "transformer": None, "errorType": None, "errorMessage": None}
        if found is None:
            return answer
        answer["transformer"] = found.name
        try:
            changed = found.transform(payload, plain(session_dict(session)), plain(shown(session.input_params)))
            if changed is not None:
                answer["payload"] = _stored(changed)
        except (Exception, SystemExit) as error:
            answer["errorType"], answer["errorMessage"] = type(error).__name__, str(error)
        return answer


_KINDS: Mapping[str, type[TextPayload | JsonPayload]] = {"TEXT": TextPayload, "JSON": JsonPayload}


def _stored(changed: Any) -> dict[str, Any]:
    """A payload, or a bare text or document, as the tape holds it. Raises TypeError for anything else."""
    if isinstance(changed, (TextPayload, JsonPayload)):
        kind, value = changed.type, changed.value
    elif isinstance(changed, str):
        kind, value = "TEXT", changed
    elif isinstance(changed, (dict, list)):
        kind, value = "JSON", changed
    else:
        raise TypeError(f"A transformer gives a payload, a text or a document, not a {type(changed).__name__}.")
    return {"type": kind, "value": strict(value)}
