"""Secrets of the deployment do not show up in texts: in the log, and in messages about failures."""

import os
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from django.conf import settings

MASK = "***"
#: Variables whose values are secret.
_NAMES = re.compile(r"SECRET|PASSWORD|PASSWD|API_?KEY|TOKEN|CREDENTIAL", re.IGNORECASE)
#: The password of an address, and the credentials of a header.
_SHAPES = (r"(?<=://)[^/\s:@\"']*:[^/\s@\"']+(?=@)", r"\b(?:[Bb]earer|[Bb]asic|[Aa]pi-[Kk]ey) [A-Za-z0-9+/=._~-]{8,}")
#: A shorter value may be a word.
SHORTEST = 8


def mask_secrets(text: str) -> str:
    """The text with `***` in place of secrets."""
    return _pattern().sub(MASK, text)


@cache
def _pattern() -> re.Pattern[str]:
    values = sorted({value for value in _list_secrets() if len(value) >= SHORTEST}, key=len, reverse=True)
    return re.compile("|".join([*map(re.escape, values), *_SHAPES]))


def _list_secrets() -> Iterator[str]:
    yield from (value for name, value in os.environ.items() if _NAMES.search(name))
    if settings.configured:
        # Not through `conf`, which a failing start may not have.
        declared: dict[str, Any] = getattr(settings, "CONVENGINE", {})
        yield str(settings.SECRET_KEY)
        for key in ("CHANNEL_SECRETS", "MCP_SECRETS"):
            yield from map(str, declared.get(key, {}).values())
        for connections, key in (("HTTP_CONNECTIONS", "secret_value"), ("MODELS", "api_key")):
            for connection in declared.get(connections, {}).values():
                if isinstance(connection, dict):
                    yield str(connection.get(key) or "")
