"""Pages of channels, of the messages that they sent, and of the users who want none."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from convengine.engine.text.compare import storable
from convengine.engine.tools.fault import ToolFault
from convengine.server.admin.masking import masked_column
from convengine.server.admin_site.pages import PagesAdmin, page
from convengine.server.admin_site.read_only import ByConversation
from convengine.server.admin_site.record_columns import badge_column, excerpt_column, value_column
from convengine.server.channels.answers import send_test
from convengine.server.channels.contract import Provider
from convengine.server.channels.models import CeChannel, CeChannelMessage, CeOptOut
from convengine.server.channels.providers import list_providers
from convengine.server.channels.send import outbox
from convengine.server.deployment import conf
from convengine.server.jobs.outbox import OutboxStatus, send_again
from convengine.server.queued.models import CeQueuedMessage

_CHANGE = "ce_channels.change_cechannel"
_BADGES: Mapping[str, str] = {OutboxStatus.PENDING: "info", OutboxStatus.SENT: "success", OutboxStatus.FAILED: "danger"}
_FIELDS = ("name", "workspace_id", "is_enabled", "locale", "attachment_text", "failure_text")
_OPT_OUT = ("opt_out_words", "opt_out_text", "opt_in_words", "opt_in_text")
#: A page counts no further.
_MOST_COUNTED = 1_000


class ChannelForm(forms.ModelForm):  # type: ignore[type-arg]
    """A channel; its provider adds the fields of its secrets and settings."""

    provider_kind: Provider | None = None

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        for kind, stored in (("secret", self.instance.secrets), ("setting", self.instance.settings)):
            for name, value in stored.items():
                self.initial.setdefault(f"{kind}_{name}", value)

    def clean_workspace_id(self) -> str:
        return storable(self.cleaned_data["workspace_id"]).strip()

    def _post_clean(self) -> None:
        # A kind that this installation does not have can still be turned off.
        self.instance.provider = self.provider_kind.name if self.provider_kind else self.instance.provider
        for kind in ("secret", "setting") if self.provider_kind else ():
            names = [name for name in self.cleaned_data if name.startswith(f"{kind}_")]
            values = {name.removeprefix(f"{kind}_"): storable(self.cleaned_data[name]).strip() for name in names}
            setattr(self.instance, f"{kind}s", {name: value for name, value in values.items() if value})
        super()._post_clean()  # type: ignore[misc]


def build_form(provider: Provider) -> type[ChannelForm]:
    """The form of a channel of this kind."""
    known = sorted(conf.get("CHANNEL_SECRETS"))
    missing = "" if known else " There is none: an operator must set CE_CHANNEL_SECRET_ and a name of your choice."
    fields: dict[str, Any] = {
        f"secret_{name}": forms.ChoiceField(
            label=f"Secret: {name.replace('_', ' ')}",
            choices=[("", "---------"), *((word, word) for word in known)],
            widget=UnfoldAdminSelectWidget(),
            help_text=f"{sentence} Choose the name that it has in this installation.{missing}",
        )
        for name, sentence in provider.secrets.items()
    }
    for key, sentence in provider.settings.items():
        name = key.removesuffix("?")
        fields[f"setting_{name}"] = forms.CharField(
            label=name.replace("_", " ").capitalize(),
            required=name == key,
            max_length=400,
            widget=UnfoldAdminTextInputWidget(),
            help_text=sentence,
        )
    return type("ChannelForm", (ChannelForm,), {**fields, "provider_kind": provider})


@admin.register(CeChannel)
class ChannelAdmin(PagesAdmin):
    """Channels of messages."""

    change_form_template = "convengine/channel.html"
    list_display = ("name", "provider_title", "workspace_id", "status_label", "last_request_at")
    ordering = ("name",)
    show_full_result_count = False

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **options: Any) -> Any:
        """The fields that every channel has, with those of its provider."""
        provider = list_providers().get(obj.provider if obj else request.GET.get("provider", ""))
        self_form = build_form(provider) if provider else ChannelForm
        return super().get_form(request, obj, change, form=self_form, **options)

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """What the provider needs comes first."""
        provider = list_providers().get(obj.provider if obj else request.GET.get("provider", ""))
        own = [*build_form(provider).base_fields] if provider else []
        own = [name for name in own if name.startswith(("secret_", "setting_"))]
        title = provider.title if provider else f"{obj.provider}: not in this installation" if obj else ""
        return [(None, {"fields": _FIELDS}), (title, {"fields": own}), ("Opting out", {"fields": _OPT_OUT})]

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> HttpResponse:
        """The choice of a provider comes first."""
        providers = list_providers()
        if request.GET.get("provider") not in providers and self.has_add_permission(request):
            context = {**self.admin_site.each_context(request), "title": "Add a channel", "opts": self.opts}
            return TemplateResponse(request, "convengine/add_channel.html", context | {"providers": providers.values()})
        return super().add_view(request, form_url, extra_context)  # type: ignore[no-any-return]

    def change_view(self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None) -> Any:
        """With its address, what arrived and left today, and the form of a test message."""
        channel = self.get_object(request, object_id)
        context = _describe_traffic(channel, request) if isinstance(channel, CeChannel) else {}
        return super().change_view(request, object_id, form_url, context | (extra_context or {}))

    @admin.display(description="provider", ordering="provider")
    def provider_title(self, channel: CeChannel) -> str:
        provider = list_providers().get(channel.provider)
        return provider.title if provider else f"{channel.provider} (not in this installation)"

    @badge_column({"ON": "success", "OFF": "default"}, "status")
    def status_label(self, channel: CeChannel) -> tuple[str, str]:
        return ("ON", "On") if channel.is_enabled else ("OFF", "Off")

    def get_deleted_objects(
        self, objs: QuerySet[CeChannel], request: HttpRequest
    ) -> tuple[list[str], dict[str, int], set[str], list[str]]:
        """Its messages go with it, without a list of them."""
        return [str(channel) for channel in objs], {}, set(), []

    @page("<int:pk>/test/", right=_CHANGE, methods=("POST",))
    def test_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Send a message to somebody; its page shows what came back."""
        channel = get_object_or_404(CeChannel, pk=pk)
        recipient, text = (storable(request.POST.get(name, "")).strip()[:400] for name in ("recipient", "text"))
        try:
            if not recipient or not text:
                raise ToolFault("TEXT_MISSING", "A test message needs a recipient and a text.")
            row = send_test(channel, recipient, text)
        except ToolFault as fault:
            self.message_user(request, f"Nothing was sent: {fault.message}", "ERROR")
            return HttpResponseRedirect(reverse("admin:ce_channels_cechannel_change", args=[pk]))
        self.log_change(request, channel, f"A test message was sent to {recipient}.")
        return HttpResponseRedirect(reverse("admin:ce_channels_cechannelmessage_change", args=[row.pk]))


def _describe_traffic(channel: CeChannel, request: HttpRequest) -> dict[str, Any]:
    """The address of a channel, and what arrived and left today."""
    today = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
    sent = CeChannelMessage.objects.filter(channel=channel)
    return {
        "channel": channel,
        "address": request.build_absolute_uri(reverse("channel", args=[channel.name])),
        "arrived": _count(CeQueuedMessage.objects.filter(owner=channel.owner), today),
        "left": _count(sent.filter(status=OutboxStatus.SENT), today),
        "failed": _count(sent.filter(status=OutboxStatus.FAILED), today),
    }


def _count(rows: QuerySet[Any], since: datetime) -> str:
    count = rows.filter(created_at__gte=since)[: _MOST_COUNTED + 1].count()
    return f"more than {_MOST_COUNTED}" if count > _MOST_COUNTED else str(count)


@admin.register(CeChannelMessage)
class ChannelMessageAdmin(ByConversation):
    """Messages to users, newest first. Those that were given up can be sent again."""

    change_form_template = "convengine/channel_message.html"
    list_display = ("time", "channel_name", "status_label", "conversation_page", "receipt", "attempts", "error_start")
    list_select_related = ("channel",)
    list_filter = ("status", "channel")
    ordering = ("-id",)
    time = value_column("created_at", "time")
    error_start = excerpt_column("error", "last error", 80)
    fields = (
        *("status", "channel_name", "conversation_page", "recipient", "said", "content", "receipt"),
        *("attempts", "error", "next_attempt_at", "created_at", "sent_at"),
    )
    readonly_fields = ("channel_name", "conversation_page", "said", "content")
    said = masked_column("text", "text")
    content = masked_column("body", "message")

    @badge_column(_BADGES, "status")
    def status_label(self, row: Any) -> tuple[str, str]:
        return row.status, str(row.get_status_display())

    @admin.display(description="channel")
    def channel_name(self, row: CeChannelMessage) -> str:
        """No link, because not everybody may open it."""
        return row.channel.name

    def change_view(self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None) -> Any:
        """With the button that sends it again, or while the result of a test is awaited."""
        row = self.find_row(request, object_id, None)
        may_resend = row is not None and row.status == OutboxStatus.FAILED and self._may_resend(request)
        is_awaited = row is not None and not row.conversation_id and row.status == OutboxStatus.PENDING
        context = {"failed": row if may_resend else None, "is_awaited": is_awaited}
        return super().change_view(request, object_id, form_url, context | (extra_context or {}))

    def _may_resend(self, request: HttpRequest) -> bool:
        user: Any = request.user
        return bool(user.has_perm(_CHANGE))

    @page("<int:pk>/again/", right=_CHANGE, methods=("POST",))
    def again_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Send it again."""
        if send_again(CeChannelMessage.objects.filter(pk=pk)):
            outbox.wake()
            self.message_user(request, "It is sent again soon.", "SUCCESS")
        return HttpResponseRedirect(reverse("admin:ce_channels_cechannelmessage_change", args=[pk]))


@admin.register(CeOptOut)
class OptOutAdmin(PagesAdmin):
    """Users who want no messages. Who is deleted here gets answers again."""

    list_display = ("recipient", "channel", "created_at")
    list_filter = ("channel",)
    search_fields = ("recipient",)
    ordering = ("-id",)
    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
