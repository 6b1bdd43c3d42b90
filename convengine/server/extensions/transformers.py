"""Call registered response transformers: recorded, faults as answers (pipeline-2 9.6)."""

from collections.abc import Mapping
from typing import Any

from convengine.engine.turn.codec import to_plain, to_strict
from convengine.engine.turn.facts import collect_session_facts
from convengine.engine.turn.params import hide_internal
from convengine.engine.turn.payload import JsonPayload, Payload, TextPayload
from convengine.engine.turn.ports import TransformAnswer
from convengine.engine.turn.recording import Tape
from convengine.engine.turn.session import Session
from convengine.server.extensions.registry import Registry
from convengine.server.extensions.scoped import transformer_for


class ResponseTransformers:
    def __init__(self, registry: Registry, tape: Tape) -> None:
        self._registry = registry
        self._tape = tape

    def transform(self, stage: str, payload: Payload, session: Session) -> TransformAnswer:
        """Let the transformer of a stage that fits intent and state change the answer."""
        # Recorded even without transformers, so that a replay does not depend on those of its deployment.
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
            changed = found.transform(
                payload, to_plain(collect_session_facts(session)), to_plain(hide_internal(session.input_params))
            )
            if changed is not None:
                answer["payload"] = _to_recorded_payload(changed)
        except (Exception, SystemExit) as error:
            answer["errorType"], answer["errorMessage"] = type(error).__name__, str(error)
        return answer


_KINDS: Mapping[str, type[TextPayload | JsonPayload]] = {"TEXT": TextPayload, "JSON": JsonPayload}


def _to_recorded_payload(changed: Any) -> dict[str, Any]:
    """A payload, or a plain text or document, for the recording. Raises TypeError for anything else."""
    if isinstance(changed, (TextPayload, JsonPayload)):
        kind, value = changed.type, changed.value
    elif isinstance(changed, str):
        kind, value = "TEXT", changed
    elif isinstance(changed, (dict, list)):
        kind, value = "JSON", changed
    else:
        raise TypeError(f"A transformer gives a payload, a text or a document, not a {type(changed).__name__}.")
    return {"type": kind, "value": to_strict(value)}
