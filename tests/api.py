"""The turn API as an integrator calls it."""

import uuid
from dataclasses import dataclass, field
from typing import Any

from django.test import Client

from convengine.server.api.models import CeApiKey


def make_key(workspace_id: str = "default", **values: Any) -> str:
    """A new API key; gives its secret."""
    _, secret = CeApiKey.objects.create_key(name="test", workspace_id=workspace_id, **values)
    return str(secret)


@dataclass
class Caller:
    """An integrator with a key and a conversation."""

    secret: str = field(default_factory=make_key)
    conversation_id: str = field(default_factory=lambda: str(uuid.uuid4()))
    client: Client = field(default_factory=Client)

    def post(self, body: Any, **headers: str) -> Any:
        """Send a body as it is; the answer has the whole context."""
        return self.client.post(
            "/api/v1/conversation/message?context=all",
            data=body,
            content_type="application/json",
            headers={"Authorization": f"Api-Key {self.secret}", **headers},
        )

    def say(self, text: str | None = None, headers: dict[str, str] | None = None, **body: Any) -> Any:
        """Send a message of the conversation; gives the answer's JSON."""
        response = self.post({"conversationId": self.conversation_id, "message": text, **body}, **(headers or {}))
        return response.json()

    def get(self, path: str = "", **query: Any) -> Any:
        """Read an audit endpoint of the conversation; gives the response."""
        return self.client.get(
            f"/api/v1/conversation/audit/{self.conversation_id}{path}",
            query,
            headers={"Authorization": f"Api-Key {self.secret}"},
        )

    def stages(self, turn: int) -> list[str]:
        """The stages of a turn."""
        return [event["stage"] for event in self.get(turn=turn).json()["results"]]
