"""Admin pages of waiting turns and messages, claimed actions, and answers to repeated requests."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.models import CHANGE, LogEntry
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from unfold.contrib.filters.admin import ChoicesDropdownFilter

from convengine.engine.rules.row_names import quote_name
from convengine.engine.turn.ports import RULE_CLAIMANT
from convengine.files import Unreadable
from convengine.files.json_text import read_json
from convengine.server.admin_site.missing_rights import require_right
from convengine.server.admin_site.pages import page
from convengine.server.admin_site.read_only import CONVERSATIONS, ByConversation
from convengine.server.admin_site.record_columns import (
    badge_column,
    excerpt_column,
    find_row_name,
    masked_column,
    status_column,
    value_column,
)
from convengine.server.confirmed_actions.review import NotSettled, Settlement, settle_execution
from convengine.server.jobs.outbox import OutboxStatus
from convengine.server.queued.models import CeQueuedMessage
from convengine.server.sessions.models import CeIdempotency, CePendingActionExecution, CeTurnTicket

PERMISSION = "ce_sessions.settle_execution"


_CHOICES = (
    ("yes", "It ran. The next “yes” reports success, and nothing runs again."),
    ("no", "It did not run. The next “yes” reports a failure, and the one after that runs it again."),
)
_CHOICES_OF_RULES = (
    ("yes", "It ran. When the same request reaches the rule again, the rule reports success, and nothing runs again."),
    ("no", "It did not run. A call that is sent again reports a failure; every other message runs the task."),
)
_BADGES: Mapping[str, str] = {OutboxStatus.PENDING: "info", OutboxStatus.SENT: "success", OutboxStatus.FAILED: "danger"}


class SettleForm(forms.Form):
    """What a person found out."""

    ran = forms.ChoiceField(
        choices=_CHOICES, widget=forms.RadioSelect, error_messages={"required": "Choose whether it ran."}
    )
    result = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 4, "spellcheck": "false"}))
    reason = forms.CharField(
        max_length=2000,
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
        error_messages={"required": "Explain how you know, so that others can follow it later."},
    )

    def __init__(self, *args: Any, is_of_rule: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        ran: Any = self.fields["ran"]
        ran.choices = _CHOICES_OF_RULES if is_of_rule else _CHOICES

    def clean_result(self) -> Any:
        """The JSON value. Returns None if there is none."""
        text = self.cleaned_data["result"].strip()
        if not text:
            return None
        try:
            return read_json(text)
        except Unreadable as error:
            raise forms.ValidationError(
                f'The result is not valid JSON: {error.describe()}. Put a text in quotes, for example "R-17".'
            ) from None

    def clean(self) -> dict[str, Any]:
        """An action that did not run has no result."""
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("ran") == "no" and cleaned.get("result") is not None:
            self.add_error(
                "result", "An action that did not run has no result. Remove the result, or choose that it ran."
            )
        return cleaned


class SettlingAdmin(ByConversation):
    """Executions with a link to decide one."""

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """With the link for users with the right, while the execution is open."""
        fields = super().get_fields(request, obj)
        return ("to_settle", *fields) if obj and obj.status == "CLAIMED" and may_settle(request) else fields

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """The link is read-only."""
        return ("to_settle", *super().get_readonly_fields(request, obj))

    def to_settle(self, row: CePendingActionExecution) -> SafeString:
        return format_html('<a class="ce-button" href="{}">Record the outcome</a>', settle_url(row.pk))

    to_settle.short_description = "needs a decision"  # type: ignore[attr-defined]

    @page("<int:pk>/settle/")
    def settle_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Ask what happened, or store the answer."""
        require_right(request, PERMISSION)
        execution = CePendingActionExecution.objects.filter(pk=pk).first()
        if execution is None:
            raise Http404(f"Execution {pk} does not exist.")
        back = reverse("admin:ce_sessions_cependingactionexecution_change", args=[pk])
        may_read = request.user.has_perm(CONVERSATIONS)
        form = SettleForm(request.POST or None, is_of_rule=find_rule(execution) is not None)
        if request.method == "POST" and form.is_valid() and self._settle_execution(request, execution, form):
            self.message_user(
                request,
                "The outcome is saved. The conversation uses it when the action comes up again.",
                messages.SUCCESS,
            )
            return HttpResponseRedirect(back)
        context = {
            **self.admin_site.each_context(request),
            "title": f"Record the outcome of {name_claimant(execution)}",
            "opts": self.opts,
            "execution": execution,
            "claimant": name_claimant(execution),
            "is_of_rule": find_rule(execution) is not None,
            "conversation": (self.conversation_page if may_read else self.conversation_name)(execution),
            "form": form,
            "back_url": back,
        }
        return TemplateResponse(request, "convengine/settle.html", context)

    def _settle_execution(self, request: HttpRequest, execution: CePendingActionExecution, form: SettleForm) -> bool:
        user: Any = request.user
        given = form.cleaned_data
        settlement = Settlement(given["ran"] == "yes", user, given["reason"], given["result"])
        try:
            settle_execution(execution.pk, settlement)
        except NotSettled as error:
            form.add_error(None, str(error))
            return False
        LogEntry.objects.log_actions(
            user.pk, [execution], CHANGE, f"{settlement.status}: {settlement.reason}", single_object=True
        )
        return True


def may_settle(request: HttpRequest) -> bool:
    return bool(request.user.has_perm(PERMISSION))


def settle_url(pk: int) -> str:
    return reverse("admin:ce_sessions_cependingactionexecution_settle", args=[pk])


def find_rule(execution: CePendingActionExecution) -> int | None:
    """The rule whose task was claimed. Returns None for a confirmed action or a tool."""
    kind, _, rule = execution.action_key.partition(RULE_CLAIMANT)
    return int(rule) if not kind and rule.isdecimal() else None


def name_claimant(execution: CePendingActionExecution) -> str:
    """What people call the action, the tool or the rule."""
    rule = find_rule(execution)
    if rule is None:
        return execution.action_key
    name = find_row_name("ce_rule", rule)
    return f"rule {quote_name(name)}" if name else f"rule {rule}"


@admin.display(description="action")
def _show_claimant(page: Any, execution: CePendingActionExecution) -> str:
    name = name_claimant(execution)
    return name if name == execution.action_key else capfirst(name)


@admin.register(CePendingActionExecution)
class ExecutionAdmin(SettlingAdmin):
    """Actions and tasks, each run at most once. A person decides about one that stays CLAIMED."""

    list_filter = (("status", ChoicesDropdownFilter),)
    list_display = ("action", "ended", "task", "conversation_page", "started", "finished")
    ordering = ("-id",)
    fields = (
        *("action", "status", "task", "conversation_page", "turn", "key", "result"),
        *("started", "finished"),
    )
    readonly_fields = ("action", "task", "conversation_page", "turn", "key", "result", "started", "finished")
    action = _show_claimant
    task = value_column("action_ref", "task")
    turn = value_column("turn_id", "turn ID")
    key = value_column("runtime_nonce", "key of the run")
    started = value_column("started_at", "started")
    finished = value_column("finished_at", "finished")
    ended = status_column()
    result = masked_column("result_json", "result")


@admin.register(CeTurnTicket)
class TicketAdmin(ByConversation):
    """Turns that wait for a conversation's lease."""

    is_of_people = False
    list_display = ("number", "conversation_page", "arrived", "expires")
    number = value_column("id", "number")
    arrived = value_column("arrived_at", "arrived")
    expires = value_column("expires_at", "expires")
    ordering = ("-id",)


@admin.register(CeIdempotency)
class StoredAnswerAdmin(ByConversation):
    """Stored answers for repeated requests."""

    list_display = ("key", "conversation_page", "time", "expires")
    time = value_column("created_at", "time")
    expires = value_column("expires_at", "expires")
    turn = value_column("turn_id", "turn ID")
    ordering = ("-id",)
    #: There is no index by conversation; the rows expire within days.
    search_fields = ()
    fields = ("key", "conversation_page", "turn", "stored", "time", "expires")
    readonly_fields = ("conversation_page", "turn", "stored", "time", "expires")
    stored = masked_column("answer", "answer")


@admin.register(CeQueuedMessage)
class QueuedMessageAdmin(ByConversation):
    """Queued messages, newest first."""

    list_display = ("time", "status_label", "conversation_page", "workspace_id", "attempts", "error_start", "ended")
    list_filter = ("status",)
    ordering = ("-id",)
    time = value_column("created_at", "time")
    ended = value_column("sent_at", "ended")
    error_start = excerpt_column("error", "last error", 80)
    fields = (
        *("status", "conversation_page", "message_id", "workspace_id", "content", "stored"),
        *("attempts", "deaths", "error", "next_attempt_at", "created_at", "ended"),
    )
    readonly_fields = ("conversation_page", "content", "stored", "ended")
    content = masked_column("request", "message")
    stored = masked_column("answer", "answer")

    @badge_column(_BADGES, "status")
    def status_label(self, row: Any) -> tuple[str, str]:
        return row.status, str(row.get_status_display())
