"""API keys: a workspace and scopes behind a hashed secret (R53)."""

from django.conf import settings
from django.db import models
from rest_framework_api_key.models import AbstractAPIKey

#: The scopes of API keys.
SCOPES = (
    ("turns", "Take turns"),
    ("sessions", "Use sessions"),
    ("audit", "Read audit trails"),
    ("own_audit", "Read audit trails of one's own conversations, without prompts"),
    ("config", "Read and write configuration"),
)


def every_scope_but_config() -> list[str]:
    """The default scopes of a new key."""
    return ["turns", "sessions", "audit"]


class CeApiKey(AbstractAPIKey):
    """An integrator's key. The workspace is the boundary: another workspace's conversations do not exist for it."""

    workspace_id = models.TextField(default="default", help_text="Conversations of another workspace answer 404.")
    scopes = models.JSONField(default=every_scope_but_config, help_text="turns, sessions, audit, own_audit, config")

    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        blank=True,
        editable=False,
        related_name="+",
        verbose_name="created by",
        help_text="Integrators can only see and revoke their own keys.",
    )

    class Meta(AbstractAPIKey.Meta):
        db_table = "ce_api_key"
        verbose_name = "API key"
        verbose_name_plural = "API keys"

    def __str__(self) -> str:
        return str(self.name)
