"""Webhooks about alerts: a signed JSON body to a connection of the deployment (`CE_NOTIFICATION_WEBHOOKS`)."""

import hashlib
import hmac
import time
from typing import Any

from audit.models import CeAlertMessage
from convengine.engine.turn.codec import dumps
from convengine.server.deployment import conf
from convengine.server.executors.http_client import HttpCall, fetch
from convengine.server.executors.http_connections import connection
from convengine.server.executors.http_policy import ONE_ATTEMPT

SIGNATURE = "ConvEngine-Signature"


async def send_webhook(message: CeAlertMessage) -> None:
    """Post it. Raises ToolFault."""
    if message.recipient not in conf.get("NOTIFICATION_WEBHOOKS"):
        raise RuntimeError(f"{message.recipient} is not in CE_NOTIFICATION_WEBHOOKS, so nothing is sent to it.")
    target = connection(message.recipient)
    body = dumps(build_body(message))
    headers = {"Content-Type": "application/json"}
    if target.secret:
        headers[SIGNATURE] = sign_body(body, target.secret, int(time.time()))
    key = str(message.pk)
    await fetch(HttpCall(target.target(""), "POST", ONE_ATTEMPT, target.name, headers, body=body, idempotency_key=key))


def build_body(message: CeAlertMessage) -> dict[str, Any]:
    """What `schemas/alert.schema.json` describes. `text` alone is what chats show."""
    return {
        "id": str(message.pk),
        "type": f"alert.{message.kind.lower()}",
        "createdAt": message.created_at.isoformat(),
        "text": message.content["text"],
        "alert": message.content["alert"],
    }


def sign_body(body: str, secret: str, seconds: int) -> str:
    """The time, and the HMAC-SHA256 of `time.body` as hexadecimal digits."""
    digest = hmac.new(secret.encode(), f"{seconds}.{body}".encode(), hashlib.sha256).hexdigest()
    return f"t={seconds},v1={digest}"
