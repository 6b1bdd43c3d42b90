"""Pages of channels and of the messages that they sent."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse

from convengine.engine.text.compare import storable
from convengine.engine.tools.fault import ToolFault
from convengine.server.admin.masking import masked_column
from convengine.server.admin_site.pages import PagesAdmin
from convengine.server.admin_site.read_only import ByConversation
from convengine.server.admin_site.record_columns import badge_column, excerpt_column, value_column
from convengine.server.channels.models import CeChannel, CeChannelMessage
from convengine.server.channels.providers import list_providers, read_secrets
from convengine.server.jobs.outbox import OutboxStatus

_BADGES: Mapping[str, str] = {OutboxStatus.PENDING: "info", OutboxStatus.SENT: "success", OutboxStatus.FAILED: "danger"}


class ChannelForm(forms.ModelForm):  # type: ignore[type-arg]
    """A channel, with the names of the secrets that its provider needs."""

    class Meta:
        model = CeChannel
        fields = (
            *("name", "provider", "workspace_id", "is_enabled", "secrets", "settings"),
            *("attachment_text", "failure_text"),
        )

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        choices = [(name, provider.title) for name, provider in list_providers().items()]
        if "provider" in self.fields:
            self.fields["provider"] = forms.ChoiceField(choices=choices, help_text="Where its messages come from.")

    def clean_workspace_id(self) -> str:
        return storable(self.cleaned_data["workspace_id"]).strip()

    def clean(self) -> dict[str, Any]:
        """Each secret that the provider needs is named, and the deployment has it."""
        cleaned = super().clean() or self.cleaned_data
        provider = list_providers().get(cleaned.get("provider", ""))
        secrets = cleaned.get("secrets")
        if provider is None or not isinstance(secrets, dict):
            return cleaned
        if missing := [f"{name} ({sentence})" for name, sentence in provider.secrets.items() if name not in secrets]:
            raise ValidationError({"secrets": f"{provider.title} needs: {' '.join(missing)}"})
        try:
            read_secrets(CeChannel(secrets=secrets))
        except ToolFault as fault:
            raise ValidationError({"secrets": fault.message}) from fault
        return cleaned


@admin.register(CeChannel)
class ChannelAdmin(PagesAdmin):
    """Channels of messages."""

    form = ChannelForm
    list_display = ("name", "provider", "workspace_id", "status_label", "last_request_at")
    ordering = ("name",)
    show_full_result_count = False
    readonly_fields = ("address", "last_request_at", "refusal", "refused_at")
    fields = (
        *("name", "provider", "workspace_id", "is_enabled", "secrets", "settings", "attachment_text", "failure_text"),
        *("address", "last_request_at", "refused_at", "refusal"),
    )

    @badge_column({"ON": "success", "OFF": "default"}, "status")
    def status_label(self, channel: CeChannel) -> tuple[str, str]:
        return ("ON", "On") if channel.is_enabled else ("OFF", "Off")

    @admin.display(description="address")
    def address(self, channel: CeChannel) -> str:
        """What the provider is given, behind the address of this server."""
        return reverse("channel", args=[channel.name]) if channel.pk else "Save the channel first."

    def get_deleted_objects(
        self, objs: QuerySet[CeChannel], request: HttpRequest
    ) -> tuple[list[str], dict[str, int], set[str], list[str]]:
        """Its messages go with it, without a list of them."""
        return [str(channel) for channel in objs], {}, set(), []


@admin.register(CeChannelMessage)
class ChannelMessageAdmin(ByConversation):
    """Messages to users, newest first."""

    list_display = ("time", "channel", "status_label", "conversation_page", "receipt", "attempts", "error_start")
    list_select_related = ("channel",)
    list_filter = ("status", "channel")
    ordering = ("-id",)
    time = value_column("created_at", "time")
    error_start = excerpt_column("error", "last error", 80)
    fields = (
        *("status", "channel", "conversation_page", "recipient", "content", "receipt"),
        *("attempts", "error", "next_attempt_at", "created_at", "sent_at"),
    )
    readonly_fields = ("conversation_page", "content")
    content = masked_column("body", "message")

    @badge_column(_BADGES, "status")
    def status_label(self, row: Any) -> tuple[str, str]:
        return row.status, str(row.get_status_display())
