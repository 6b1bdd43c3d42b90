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
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget

from convengine.engine.redaction import MASK
from convengine.engine.text.invisible import reveal_invisible
from convengine.engine.tools.fault import ToolFault
from convengine.engine.turn import live_settings
from convengine.engine.turn.releases import INTENTS
from convengine.server.admin_site.pages import PagesAdmin, page
from convengine.server.admin_site.read_only import ByConversation, ReadOnlyAdmin
from convengine.server.admin_site.record_columns import (
    badge_column,
    current_redaction,
    excerpt_column,
    masked_column,
    value_column,
)
from convengine.server.channels.answers import send_test
from convengine.server.channels.contract import Provider
from convengine.server.channels.models import CeChannel, CeChannelMessage, CeOptOut
from convengine.server.channels.opt_out import may_send
from convengine.server.channels.providers import find_provider, list_providers, read_secrets
from convengine.server.channels.send import outbox
from convengine.server.deployment import conf
from convengine.server.interfaces.configuration import configuration
from convengine.server.jobs.outbox import OutboxStatus, send_again
from convengine.server.queued.models import CeQueuedMessage

_CHANGE = "ce_channels.change_cechannel"
_BADGES: Mapping[str, str] = {OutboxStatus.PENDING: "info", OutboxStatus.SENT: "success", OutboxStatus.FAILED: "danger"}
_FIELDS = ("name", "workspace_id", "is_enabled", "locale", "attachment_text", "failure_text")
_OPT_OUT = ("opt_out_words", "opt_out_text", "opt_in_words", "opt_in_text")
#: A page counts no further.
_MOST_COUNTED = 1_000
#: Words of labels.
_WORDS = {"id": "ID", "api": "API", "url": "address"}


class ChannelForm(forms.ModelForm):  # type: ignore[type-arg]
    """A channel; its provider adds the fields of its secrets and settings.

    Without its provider in this installation, a channel keeps its secrets and settings.
    """

    provider_kind: Provider | None = None

    class Meta:
        widgets = dict.fromkeys(("opt_out_words", "opt_in_words"), UnfoldAdminTextareaWidget({"rows": 4}))

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        for kind, stored in (("secret", self.instance.secrets), ("setting", self.instance.settings)):
            for name, value in stored.items():
                self.initial.setdefault(f"{kind}_{name}", value)
        for name, variable in self.instance.secrets.items():
            field: Any = self.fields.get(f"secret_{name}")
            if field and variable not in dict(field.choices):
                field.choices = [*field.choices, (variable, f"{variable} (missing in this installation)")]

    def _post_clean(self) -> None:
        if self.provider_kind:
            self.instance.provider = self.provider_kind.name
            for kind in ("secret", "setting"):
                names = [name for name in self.cleaned_data if name.startswith(f"{kind}_")]
                values = {name.removeprefix(f"{kind}_"): self.cleaned_data[name].strip() for name in names}
                setattr(self.instance, f"{kind}s", {name: value for name, value in values.items() if value})
        super()._post_clean()  # type: ignore[misc]


def build_form(provider: Provider) -> type[ChannelForm]:
    known = sorted(conf.get("CHANNEL_SECRETS"))
    where = (
        "Choose its name: what follows CE_CHANNEL_SECRET_ in the environment of this installation."
        if known
        else "This installation has no secrets yet. An operator must set CE_CHANNEL_SECRET_ and a name of your choice."
    )
    fields: dict[str, Any] = {
        f"secret_{name}": forms.ChoiceField(
            label=_write_label(name),
            choices=[("", "---------"), *((word, word) for word in known)],
            widget=UnfoldAdminSelectWidget(),
            help_text=f"{sentence} {where}",
        )
        for name, sentence in provider.secrets.items()
    }
    for key, sentence in provider.settings.items():
        name = key.removesuffix("?")
        fields[f"setting_{name}"] = forms.CharField(
            label=_write_label(name),
            required=name == key,
            max_length=400,
            widget=UnfoldAdminTextInputWidget(),
            help_text=sentence,
        )
    return type("ChannelForm", (ChannelForm,), {**fields, "provider_kind": provider})


def _write_label(name: str) -> str:
    """The name of a secret or setting as a label: `phone_number_id` is “Phone number ID”."""
    words = " ".join(_WORDS.get(word, word) for word in name.split("_"))
    return words[:1].upper() + words[1:]


@admin.register(CeChannel)
class ChannelAdmin(PagesAdmin):
    change_form_template = "convengine/channel.html"
    list_display = ("name", "provider_title", "workspace_id", "status_label", "last_request_at")
    ordering = ("name",)
    show_full_result_count = False

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **options: Any) -> Any:
        """The fields that every channel has, with those of its provider."""
        return super().get_form(request, obj, change, form=_choose_form(request, obj), **options)

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """The fields of the provider have its title."""
        form = _choose_form(request, obj)
        own = [name for name in form.base_fields if name.startswith(("secret_", "setting_"))]
        of_provider = [(form.provider_kind.title, {"fields": own})] if form.provider_kind else []
        return [(None, {"fields": _FIELDS}), *of_provider, ("Opting out", {"fields": _OPT_OUT})]

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> HttpResponse:
        """The choice of a provider comes first."""
        providers = list_providers()
        if request.GET.get("provider") not in providers and self.has_add_permission(request):
            context = {**self.admin_site.each_context(request), "title": "Add channel", "opts": self.opts}
            return TemplateResponse(request, "convengine/add_channel.html", context | {"providers": providers.values()})
        return super().add_view(request, form_url, extra_context)  # type: ignore[no-any-return]

    def change_view(self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None) -> Any:
        """With its address, what arrived and left today, and the form of a test message."""
        channel = self.get_object(request, object_id)
        context = _describe_channel(channel, request) if isinstance(channel, CeChannel) else {}
        return super().change_view(request, object_id, form_url, context | (extra_context or {}))

    @admin.display(description="provider", ordering="provider")
    def provider_title(self, channel: CeChannel) -> str:
        provider = list_providers().get(channel.provider)
        return provider.title if provider else f"{channel.provider} (not in this installation)"

    @badge_column({"ON": "success", "OFF": "default", "NOT_READY": "danger"}, "status")
    def status_label(self, channel: CeChannel) -> tuple[str, str]:
        if not channel.is_enabled:
            return "OFF", "Off"
        return ("NOT_READY", "Not ready") if _find_problem(channel) else ("ON", "On")

    def response_add(self, request: HttpRequest, obj: CeChannel, post_url_continue: str | None = None) -> HttpResponse:
        """The page of the channel follows, which has its address."""
        self.message_user(request, f"The channel “{obj}” was added. Give its address to the provider.", "SUCCESS")
        return HttpResponseRedirect(reverse("admin:ce_channels_cechannel_change", args=[obj.pk]))

    def get_deleted_objects(
        self, objs: QuerySet[CeChannel], request: HttpRequest
    ) -> tuple[list[str], dict[str, int], set[str], list[str]]:
        """Its messages go with it, without a list of them."""
        texts = [f"{channel}, with its messages and its list of users who opted out" for channel in objs]
        return texts, {}, set(), []

    @page("<int:pk>/test/", right=_CHANGE, methods=("POST",))
    def test_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Send a message to somebody; its page shows what came back."""
        channel = get_object_or_404(CeChannel, pk=pk)
        recipient, text = (request.POST.get(name, "").strip()[:400] for name in ("recipient", "text"))
        problem = "" if recipient and text else "A test message needs a recipient and a text."
        problem = problem or _find_problem(channel) or ("" if channel.is_enabled else "The channel is off.")
        if problem:
            self.message_user(request, f"Nothing was sent. {problem}", "ERROR")
            return HttpResponseRedirect(reverse("admin:ce_channels_cechannel_change", args=[pk]))
        row = send_test(channel, recipient, text)
        self.log_change(request, channel, f"A test message was sent: message {row.pk}.")
        return HttpResponseRedirect(reverse("admin:ce_channels_cechannelmessage_change", args=[row.pk]))


def _choose_form(request: HttpRequest, channel: CeChannel | None) -> type[ChannelForm]:
    """The form of a channel, or of a new one of the provider that the address names."""
    provider = list_providers().get(channel.provider if channel else request.GET.get("provider", ""))
    return build_form(provider) if provider else ChannelForm


def _find_problem(channel: CeChannel) -> str:
    """Why a channel can neither receive nor send in this installation. Blank if it can."""
    try:
        find_provider(channel), read_secrets(channel)
    except ToolFault as fault:
        return fault.message
    return ""


def _describe_channel(channel: CeChannel, request: HttpRequest) -> dict[str, Any]:
    """The address of a channel, what keeps it from working, its intents, and what arrived and left today."""
    today = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
    sent, refused_at = CeChannelMessage.objects.filter(channel=channel), channel.refused_at
    return {
        "channel": channel,
        "problem": _find_problem(channel),
        "is_refused": bool(refused_at and refused_at >= (channel.last_request_at or refused_at)),
        "address": request.build_absolute_uri(reverse("channel", args=[channel.name])),
        "arrived": _count(CeQueuedMessage.objects.filter(owner=channel.owner), today),
        "left": _count(sent.filter(status=OutboxStatus.SENT), today),
        "intents": live_settings.read(configuration().current(), INTENTS, channel.name).value,
        "failed": _count(sent.filter(status=OutboxStatus.FAILED), today),
    }


def _count(rows: QuerySet[Any], since: datetime) -> str:
    count = rows.filter(created_at__gte=since)[: _MOST_COUNTED + 1].count()
    return f"more than {_MOST_COUNTED}" if count > _MOST_COUNTED else str(count)


@admin.register(CeChannelMessage)
class ChannelMessageAdmin(ByConversation):
    """Messages to users, newest first. Those that were given up can be sent again."""

    change_form_template = "convengine/channel_message.html"
    list_display = ("time", "channel_name", "status_label", "conversation_page", "attempts", "error_start")
    list_select_related = ("channel",)
    list_filter = ("status", "channel")
    ordering = ("-id",)
    time = value_column("created_at", "time")
    error_start = excerpt_column("error", "last error", 80)
    fields = (
        *("status", "receipt", "channel_name", "conversation_page", "shown_recipient", "shown_text", "content"),
        *("attempts", "deaths", "error", "next_attempt_at", "created_at", "sent_at"),
    )
    readonly_fields = ("channel_name", "conversation_page", "shown_recipient", "shown_text", "content")
    content = masked_column("body", "message")

    @badge_column(_BADGES, "status")
    def status_label(self, row: Any) -> tuple[str, str]:
        is_sent = row.status == OutboxStatus.SENT
        return row.status, str((is_sent and row.receipt.capitalize()) or row.get_status_display())

    @admin.display(description="recipient")
    def shown_recipient(self, row: CeChannelMessage) -> str:
        """Whom it goes to, as the provider names people; masked like the participant of a webhook."""
        rules = current_redaction()
        return MASK if rules.is_masked_name("participant") else reveal_invisible(rules.text(row.recipient))

    @admin.display(description="text")
    def shown_text(self, row: CeChannelMessage) -> SafeString:
        return format_html('<div class="ce-said">{}</div>', reveal_invisible(current_redaction().text(row.text)))

    @admin.display(description="channel")
    def channel_name(self, row: CeChannelMessage) -> str:
        """No link, because not everybody may open it."""
        return row.channel.name

    def change_view(self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None) -> Any:
        """With the button that sends it again, or while the result of a test is awaited."""
        row = self.find_row(request, object_id, None)
        user: Any = request.user
        may_resend = row is not None and row.status == OutboxStatus.FAILED and user.has_perm(_CHANGE)
        is_tried_first = row is not None and row.status == OutboxStatus.PENDING and not row.error
        is_awaited = is_tried_first and not row.conversation_id
        context = {"failed": row if may_resend else None, "is_awaited": is_awaited}
        return super().change_view(request, object_id, form_url, context | (extra_context or {}))

    @page("<int:pk>/again/", right=_CHANGE, methods=("POST",))
    def again_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Send it again, unless the user wants no messages."""
        row = get_object_or_404(CeChannelMessage.objects.select_related("channel"), pk=pk)
        if not may_send(row.channel, row.recipient):
            self.message_user(request, "It is not sent: the user opted out of messages.", "ERROR")
        elif send_again(CeChannelMessage.objects.filter(pk=pk)):
            outbox.wake()
            self.message_user(request, "It is sent again soon.", "SUCCESS")
        else:
            self.message_user(request, "It was not abandoned, so it is not sent again.", "WARNING")
        return HttpResponseRedirect(reverse("admin:ce_channels_cechannelmessage_change", args=[pk]))


@admin.register(CeOptOut)
class OptOutAdmin(ReadOnlyAdmin):
    """Users who want no messages. A user whose opt-out is deleted gets answers again."""

    list_display = ("recipient", "channel_name", "created_at")
    list_select_related = ("channel",)
    list_filter = ("channel",)
    ordering = ("-id",)
    is_of_people = True
    search_fields = ("recipient",)
    search_help_text = "Part of a name or number"
    fields = readonly_fields = ("recipient", "channel_name", "created_at")

    @admin.display(description="channel")
    def channel_name(self, row: CeOptOut) -> str:
        """No link, because not everybody may open it."""
        return row.channel.name

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        user: Any = request.user
        return bool(user.has_perm("ce_channels.delete_ceoptout"))
