"""Admin pages of webhooks: made, tested, their secrets, and what they sent or could not send."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.safestring import SafeString
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget

from convengine.engine.tools.fault import ToolFault
from convengine.engine.turn.codec import loads
from convengine.server.admin_site.pages import PagesAdmin, page
from convengine.server.admin_site.read_only import ByConversation
from convengine.server.admin_site.record_columns import badge_column, excerpt_column, render_json
from convengine.server.jobs.outbox import OutboxStatus, send_again
from convengine.server.webhooks.events import EVENTS
from convengine.server.webhooks.models import TEST, CeWebhook, CeWebhookDelivery
from convengine.server.webhooks.send import check_address, create_secret, wake_sender
from convengine.server.webhooks.write import create_test

_CHANGE, _RESEND = "ce_webhooks.change_cewebhook", "ce_webhooks.resend_delivery"
_STATUS_BADGES: Mapping[str, str] = {
    OutboxStatus.SENT: "success",
    OutboxStatus.PENDING: "info",
    OutboxStatus.FAILED: "danger",
    "OFF": "default",
}


class WebhookForm(forms.ModelForm):
    """A webhook without its secrets."""

    events = forms.MultipleChoiceField(
        choices=[(event.name, f"{event.name} – {event.sentence}") for event in EVENTS.values()],
        widget=UnfoldAdminCheckboxSelectMultipleWidget(),
        help_text="Events that are sent to this URL.",
        error_messages={"required": "Choose at least one event. A webhook without an event sends nothing."},
    )

    #: Whether the name of the host must be known here and now. Each delivery looks it up again.
    must_resolve = True

    def clean_url(self) -> str:
        """Raises ValidationError for an address that the deployment does not allow."""
        url: str = self.cleaned_data["url"]
        try:
            check_address(url)
        except ToolFault as fault:
            if self.must_resolve or fault.code != "HOST_UNKNOWN":
                raise ValidationError(fault.message) from fault
        return url


@admin.register(CeWebhook)
class WebhookAdmin(PagesAdmin):
    """Webhooks. Their secrets are on a page of their own."""

    form = WebhookForm
    change_form_template = "convengine/webhook.html"
    list_display = ("name", "status_label", "url", "event_names", "workspace_id")
    search_fields = ("name", "url")
    ordering = ("name",)
    show_full_result_count = False
    fields = ("name", "url", "events", "workspace_id", "is_enabled")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """With whether any delivery was given up."""
        failed = _select_given_up().filter(webhook=OuterRef("pk"))
        webhooks: QuerySet[Any] = super().get_queryset(request).annotate(has_failed=Exists(failed))
        return webhooks

    @badge_column(_STATUS_BADGES, "status")
    def status_label(self, webhook: Any) -> tuple[str, str]:
        """Whether it is on, and everything was delivered."""
        if not webhook.is_enabled:
            return "OFF", "Deactivated" if webhook.deactivated_at else "Off"
        return (OutboxStatus.FAILED, "Some deliveries failed") if webhook.has_failed else (OutboxStatus.SENT, "OK")

    @admin.display(description="events")
    def event_names(self, webhook: CeWebhook) -> str:
        return ", ".join(webhook.events)

    def get_deleted_objects(
        self, objs: Any, request: HttpRequest
    ) -> tuple[list[str], dict[str, int], set[str], list[str]]:
        """Its deliveries go with it, without a list of them."""
        return [str(webhook) for webhook in objs], {}, set(), []

    def change_view(self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None) -> Any:
        """With the number of deliveries that were given up."""
        webhook = self.get_object(request, object_id)
        failed = _select_given_up().filter(webhook=webhook).count() if webhook else 0
        user: Any = request.user
        context = {"webhook": webhook, "failed_count": failed, "may_resend": user.has_perm(_RESEND)}
        return super().change_view(request, object_id, form_url, context | (extra_context or {}))

    def save_model(self, request: HttpRequest, obj: CeWebhook, form: Any, change: bool) -> None:
        """A new webhook gets its secret."""
        obj.secret = obj.secret or create_secret()
        obj.save()

    def response_add(self, request: HttpRequest, obj: CeWebhook, post_url_continue: str | None = None) -> HttpResponse:
        """The page of its secret follows."""
        self.message_user(request, f"The webhook “{obj.name}” was added. Give its secret to the receiver.")
        return HttpResponseRedirect(reverse("admin:ce_webhooks_cewebhook_secret", args=[obj.pk]))

    @page("<int:pk>/secret/", right=_CHANGE, methods=("GET", "POST"))
    def secret_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Show the secrets; a form makes a new one beside the old one, or drops the old one."""
        webhook = get_object_or_404(CeWebhook, pk=pk)
        if request.method == "POST":
            if "drop" in request.POST:
                webhook.old_secret, done = "", "The old secret was removed. Only the new one signs."
            else:
                webhook.old_secret, webhook.secret = webhook.secret, create_secret()
                done = "A new secret was made. Until you remove the old one, both sign every message."
            webhook.save(update_fields=["secret", "old_secret"])
            self.log_change(request, webhook, done)
            self.message_user(request, done, messages.SUCCESS)
            return HttpResponseRedirect(request.path)
        self.log_change(request, webhook, "The secret was shown.")
        return TemplateResponse(
            request, "convengine/webhook_secret.html", {"title": f"Secret of {webhook.name}", "webhook": webhook}
        )

    @page("<int:pk>/test/", right=_CHANGE, methods=("POST",))
    def test_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Send an event without meaning; the page of its delivery shows what came back."""
        row = create_test(get_object_or_404(CeWebhook, pk=pk))
        return HttpResponseRedirect(reverse("admin:ce_webhooks_cewebhookdelivery_change", args=[row.pk]))

    @page("<int:pk>/again/", right=_RESEND, methods=("POST",))
    def again_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Send everything again that was given up."""
        _resend(self, request, _select_given_up().filter(webhook=get_object_or_404(CeWebhook, pk=pk)))
        return HttpResponseRedirect(reverse("admin:ce_webhooks_cewebhook_change", args=[pk]))


class WebhookEventFilter(admin.SimpleListFilter):
    """The declared events, which need no query."""

    title = parameter_name = "event"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(name, name) for name in (*EVENTS, TEST)]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(event=self.value()) if self.value() else queryset


@admin.register(CeWebhookDelivery)
class WebhookDeliveryAdmin(ByConversation):
    """Deliveries, newest first. Those that were given up can be sent again."""

    change_form_template = "convengine/webhook_delivery.html"
    list_display = ("created_at", "status_label", "event", "webhook_name", "attempts", "error_start", "sent_at")
    list_select_related = ("webhook",)
    list_filter = ("status", WebhookEventFilter, "webhook")
    ordering = ("-delivery_id",)
    fields = (
        *("status", "event", "webhook_name", "conversation_page", "event_id", "content"),
        *("attempts", "deaths", "error", "next_attempt_at", "created_at", "sent_at"),
    )
    readonly_fields = ("webhook_name", "conversation_page", "content")
    error_start = excerpt_column("error", "last error", 80)

    @badge_column(_STATUS_BADGES, "status")
    def status_label(self, row: CeWebhookDelivery) -> tuple[str, str]:
        return row.status, str(row.get_status_display())

    @admin.display(description="webhook")
    def webhook_name(self, row: CeWebhookDelivery) -> str:
        """No link, because operators may not open it."""
        return row.webhook.name

    @admin.display(description="body")
    def content(self, row: CeWebhookDelivery) -> SafeString:
        return render_json(loads(row.body))

    def change_view(self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None) -> Any:
        """With the button that sends it again, or while the result of a test is awaited."""
        row = self.find_row(request, object_id, None)
        user: Any = request.user
        may_resend = row is not None and row.status == OutboxStatus.FAILED and user.has_perm(_RESEND)
        is_awaited = row is not None and row.event == TEST and row.status == OutboxStatus.PENDING
        context = {"failed": row if may_resend else None, "is_awaited": is_awaited}
        return super().change_view(request, object_id, form_url, context | (extra_context or {}))

    @page("<int:pk>/again/", right=_RESEND, methods=("POST",))
    def again_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        _resend(self, request, CeWebhookDelivery.objects.filter(pk=pk))
        return HttpResponseRedirect(reverse("admin:ce_webhooks_cewebhookdelivery_change", args=[pk]))


def _select_given_up() -> QuerySet[CeWebhookDelivery]:
    """Events that were given up; not tests, which have their result on their page."""
    return CeWebhookDelivery.objects.filter(status=OutboxStatus.FAILED).exclude(event=TEST)


def _resend(model_admin: Any, request: HttpRequest, rows: QuerySet[CeWebhookDelivery]) -> None:
    """Have these deliveries sent again, and say on the page how many; only those that were given up count."""
    count = send_again(rows)
    if count:
        wake_sender()
        noun = "delivery" if count == 1 else "deliveries"
        model_admin.message_user(request, f"{count} {noun} will be sent again shortly.", messages.SUCCESS)
    else:
        model_admin.message_user(request, "No delivery was abandoned, so nothing is sent again.", messages.WARNING)
