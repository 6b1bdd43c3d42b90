"""A client over real HTTP that remembers what it was answered, and knows when it was not."""

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException, HTTPMessage
from typing import Any

#: Longer than any turn waits for another.
_PATIENCE = 60.0


@dataclass(frozen=True)
class Reply:
    """A complete answer."""

    status: int
    body: dict[str, Any]
    headers: HTTPMessage

    @property
    def said(self) -> Any:
        """The text of the answer."""
        return self.body["payload"]["value"] if self.body.get("payload") else None


@dataclass(frozen=True)
class Exchange:
    """A message and the answer that acknowledged its turn."""

    message: str | None
    reply: Reply


#: A turn of a conversation, and a message of a thread.
TURN, MESSAGE = "/api/v1/conversation/message", "/api/v1/sessions/message"


def post(
    port: int, secret: str, body: Mapping[str, Any] | None, *, path: str = TURN, method: str = "POST", **more: str
) -> Reply | None:
    """One call of the API. Returns None if the connection ended before the answer did: nothing was acknowledged."""
    http = HTTPConnection("127.0.0.1", port, timeout=_PATIENCE)
    sent = {"Authorization": f"Api-Key {secret}", "Content-Type": "application/json", "Connection": "close", **more}
    try:
        http.request(method, path, json.dumps(body) if body is not None else None, sent)
        response = http.getresponse()
        text, headers = response.read(), response.headers
        # A server that dies while it writes its headers leaves fewer of them: without its length it is no answer.
        if "Content-Length" not in headers:
            return None
        assert headers.get_content_type() == "application/json", text.decode()
        return Reply(response.status, json.loads(text), headers)
    except (HTTPException, OSError):
        return None
    finally:
        http.close()


@dataclass
class Talk:
    """One conversation, and what of it was acknowledged."""

    secret: str
    conversation_id: str = field(default_factory=lambda: str(uuid.uuid4()))
    acknowledged: list[Exchange] = field(default_factory=list)

    def say(
        self, port: int, message: str | None, *, doom: str = "", key: str = "", params: Mapping[str, Any] | None = None
    ) -> Reply | None:
        """Send a message; null when no answer came."""
        headers = {"X-Doom": doom} if doom else {}
        if key:
            headers["Idempotency-Key"] = key
        body = {"conversationId": self.conversation_id, "message": message, "inputParams": dict(params or {})}
        reply = post(port, self.secret, body, **headers)
        if reply and reply.status == 200:
            self.acknowledged.append(Exchange(message, reply))
        return reply
