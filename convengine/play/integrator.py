"""Call the product as an integrator does: over its HTTP API, with its own key."""

import uuid
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Self

from django.test import Client

from convengine.engine.turn.codec import loads
from convengine.json_value import Json
from convengine.play.scenario import ScenarioTurn, ThreadName
from convengine.play.seen_turn import SeenEvent
from convengine.server.api.models import CeApiKey

_THREADS = "/api/v1/sessions/message?context=all"
_MESSAGE = "/api/v1/conversation/message?context=all&include=verbose"
DEFAULT_WORKSPACE = "default"
_AUDIT = "/api/v1/conversation/audit"


@dataclass
class Integrator:
    """A caller of the API."""

    secret: str
    client: Client = field(default_factory=lambda: Client(raise_request_exception=False))

    @classmethod
    def for_workspace(cls, workspace_id: str, *, may_approve: bool) -> Self:
        """A caller with a new key of a workspace."""
        scopes = ["turns", "sessions", "audit", *(["approve"] if may_approve else ())]
        _, secret = CeApiKey.objects.create_key(name="scenarios", workspace_id=workspace_id, scopes=scopes)
        return cls(str(secret))

    def send_message(self, conversation_id: uuid.UUID, turn: ScenarioTurn) -> tuple[int, dict[str, Json]]:
        """Send the request of a turn; returns status and body."""
        body: dict[str, Json] = {"conversationId": str(conversation_id), "message": turn.user}
        if turn.input_params is not None:
            body["inputParams"] = turn.input_params
        if turn.reset:
            body["reset"] = True
        answer = self.client.post(_MESSAGE, data=body, content_type="application/json", headers=self._headers)
        return answer.status_code, _document(answer.content)

    def send_thread_message(self, thread: ThreadName, turn: ScenarioTurn) -> tuple[int, dict[str, Json]]:
        """Send a turn as the bridge of a channel does; returns status, and the turn's answer with the session
        decision.
        """
        body: dict[str, Json] = {**asdict(thread), "user_message": turn.user}
        if turn.input_params is not None:
            body["input_params"] = turn.input_params
        answer = self.client.post(_THREADS, data=body, content_type="application/json", headers=self._headers)
        document = _document(answer.content)
        return answer.status_code, {"success": document.get("ok", False), **document, **document.get("turn", {})}

    def audit(self, conversation_id: uuid.UUID, turn_no: int) -> Sequence[SeenEvent]:
        query: dict[str, str | int] = {"turn": turn_no, "page": "off"}
        answer = self.client.get(f"{_AUDIT}/{conversation_id}", query, headers=self._headers)
        events = loads(answer.content) if answer.status_code == 200 else []
        return [SeenEvent(event["stage"], event["payload"]) for event in events]

    @property
    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Api-Key {self.secret}"}


def _document(content: bytes) -> dict[str, Json]:
    """The body of an answer; empty when it is not an object, as after a crash of the server."""
    try:
        document = loads(content)
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}
