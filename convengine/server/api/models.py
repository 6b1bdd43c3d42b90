"""API keys: a workspace and scopes behind a hashed secret."""

from django.conf import settings
from django.db import models
from rest_framework_api_key.models import AbstractAPIKey

from convengine.server.api.conversation_token import ConversationToken

#: The scopes of API keys.
SCOPES = (
    ("turns", "Take turns"),
    ("sessions", "Use sessions"),
    ("desk", "Read and answer conversations that a person has"),
    ("audit", "Read audit trails"),
    ("own_audit", "Read audit trails of one's own conversations, without prompts"),
    ("config", "Read and write configuration"),
    ("approve", "Approve sensitive actions (`approval_granted`)"),
)


def every_scope_but_config() -> list[str]:
    """The default scopes of a new key; without `desk`, `config` and `approve`, which are given knowingly."""
    return ["turns", "sessions", "audit"]


class CeThrottle(models.Model):
    """A counter of calls or attempts (`convengine.server.database.throttle`)."""

    key = models.CharField(max_length=64, primary_key=True, help_text="The hash of what is counted.")
    count = models.IntegerField(help_text="Calls in its time window, or attempts that were not forgotten.")
    next_at = models.FloatField(help_text="When the next attempt is possible: seconds since 1970.")
    expires_at = models.FloatField(help_text="When the row may be removed.")

    class Meta:
        db_table = "ce_throttle"
        indexes = [models.Index(fields=["expires_at"], name="ce_throttle_expires")]

    def __str__(self) -> str:
        return self.key


class CeApiKey(AbstractAPIKey):
    """An integrator's key. The workspace is the boundary: another workspace's conversations do not exist for it."""

    workspace_id = models.TextField(default="default", help_text="Conversations of another workspace answer 404.")
    scopes = models.JSONField(
        default=every_scope_but_config, help_text="turns, sessions, desk, audit, own_audit, config, approve"
    )

    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        # A key without a creator belongs to the installation and has no limits of a person.
        models.CASCADE,
        null=True,
        blank=True,
        editable=False,
        related_name="+",
        verbose_name="created by",
        help_text="Integrators can only see and revoke their own keys.",
    )

    #: The keys whose conversations this key of a call may use. None for all of its workspace.
    openers: tuple[str, ...] | None = ()
    #: The token of a browser that calls in place of the key.
    token: ConversationToken | None = None

    class Meta(AbstractAPIKey.Meta):
        db_table = "ce_api_key"
        verbose_name = "API key"
        verbose_name_plural = "API keys"

    def __str__(self) -> str:
        return str(self.name)

    def may_use(self, opened_by: str | None) -> bool:
        """Whether this key may use a conversation that this key prefix began; null: a user of the admin began it."""
        return self.openers is None or opened_by in self.openers
