"""Speaking to the product as an integrator does: over its HTTP API, with a key of its own."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.test import Client

from convengine.api.models import CeApiKey
from convengine.codec import loads
from convengine.scenarios.happened import Row
from convengine.scenarios.scenario import Turn

Json = Any
_MESSAGE = "/api/v1/conversation/message"
_AUDIT = "/api/v1/conversation/audit"


def _new_key() -> str:
    _, secret = CeApiKey.objects.create_key(name="scenarios")
    return str(secret)


@dataclass
class Integrator:
    """A caller of the API."""

    secret: str = field(default_factory=_new_key)
    client: Client = field(default_factory=lambda: Client(raise_request_exception=False))

    def say(self, conversation_id: uuid.UUID, turn: Turn) -> tuple[int, dict[str, Json]]:
        """Send the request of a turn; gives status and body."""
        body: dict[str, Json] = {"conversationId": str(conversation_id), "message": turn.user}
        if turn.input_params is not None:
            body["inputParams"] = turn.input_params
        if turn.reset:
            body["reset"] = True
        answer = self.client.post(
            f"{_MESSAGE}?include=verbose", data=body, content_type="application/json", headers=self._headers
        )
        return answer.status_code, _document(answer.content)

    def audit(self, conversation_id: uuid.UUID, turn_no: int) -> Sequence[Row]:
        """The audit rows of a turn, in order."""
        found = self._read(conversation_id, "", {"turn": turn_no, "page": "off"})
        return [Row(event["stage"], event["payload"]) for event in found or []]

    def steps(self, conversation_id: uuid.UUID, turn_no: int) -> Sequence[str]:
        """The names of the steps in the trace of a turn."""
        found = self._read(conversation_id, "/trace", {"turn": turn_no})
        return [step["step"] for step in (found or {}).get("steps", [])]

    def _read(self, conversation_id: uuid.UUID, path: str, query: Mapping[str, Json]) -> Json:
        answer = self.client.get(f"{_AUDIT}/{conversation_id}{path}", query, headers=self._headers)
        return loads(answer.content) if answer.status_code == 200 else None

    @property
    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Api-Key {self.secret}"}


def _document(content: bytes) -> dict[str, Json]:
    """The body of an answer; empty when it is no object, as after a crash of the server itself."""
    try:
        found = loads(content)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
