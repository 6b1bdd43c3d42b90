"""Secrets and signatures of webhooks, as Standard Webhooks say (https://www.standardwebhooks.com)."""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Iterable, Mapping

_PREFIX = "whsec_"
_SECRET_BYTES = 32


def create_secret() -> str:
    """A new random secret."""
    return _PREFIX + base64.b64encode(secrets.token_bytes(_SECRET_BYTES)).decode()


def build_headers(event_id: str, seconds: int, body: str, known_secrets: Iterable[str]) -> Mapping[str, str]:
    """The headers of a message; it is signed with every secret, so that a receiver may know either of two."""
    content = f"{event_id}.{seconds}.{body}".encode()
    signatures = []
    for secret in filter(None, known_secrets):
        digest = hmac.new(base64.b64decode(secret.removeprefix(_PREFIX)), content, hashlib.sha256).digest()
        signatures.append(f"v1,{base64.b64encode(digest).decode()}")
    return {
        "webhook-id": event_id,
        "webhook-timestamp": str(seconds),
        "webhook-signature": " ".join(signatures),
    }
