"""Secrets do not show up in texts."""

from collections.abc import Iterator

import pytest
from django.test import override_settings

from convengine.server.deployment import secrets
from convengine.server.deployment.secrets import mask_secrets


@pytest.fixture(autouse=True)
def _known_secrets(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("CE_MCP_SECRET_DESK", "desk-word-1234")
    monkeypatch.setenv("CE_EMAIL_PASSWORD", "mail(word)5678")
    monkeypatch.setenv("CE_MCP_SECRET_SHORT", "no")
    with override_settings(
        CONVENGINE={
            "HTTP_CONNECTIONS": {"orders": {"secret_value": "orders-word-99"}},
            "MODELS": {"m": {"api_key": "sk-model-77"}},
            "CHANNEL_SECRETS": {"SHOP": "123:shop-word"},
        }
    ):
        secrets._pattern.cache_clear()
        yield
    secrets._pattern.cache_clear()


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("token=desk-word-1234.", "token=***."),
        ("mail(word)5678", "***"),
        ("orders-word-99 and sk-model-77", "*** and ***"),
        ("localhost:8081/bot123:shop-word/sendMessage", "localhost:8081/bot***/sendMessage"),
        ("postgresql://ada:wonder@host/db", "postgresql://***@host/db"),
        ("redis://:wonder@host:6379", "redis://***@host:6379"),
        ("Authorization: Bearer abcdefgh12345", "Authorization: ***"),
        ("Api-Key abcd1234.efgh", "***"),
        ("https://host:8000/a@b is no secret, nor is 10:30", "https://host:8000/a@b is no secret, nor is 10:30"),
    ],
)
def test_secrets_are_masked(text: str, masked: str) -> None:
    assert mask_secrets(text) == masked
