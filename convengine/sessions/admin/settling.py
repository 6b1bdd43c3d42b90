"""The page on which a person says how an execution ended that nobody saw the end of (tables 6.7)."""

import json
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.admin.models import CHANGE, LogEntry
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from convengine.read_only import CONVERSATIONS, ByConversation
from convengine.sessions.models import CePendingActionExecution
from convengine.sessions.settle import NotSettled, Settlement, settle

PERMISSION = "ce_sessions.settle_execution"
_CHOICES = (
    ("yes", "It ran. The next yes hears that it is done; nothing runs again."),
    ("no", "It did not run. The next yes hears that it failed; the one after that runs it."),
)


class SettleForm(forms.Form):
    """What a person found out."""

    ran = forms.ChoiceField(
        choices=_CHOICES, widget=forms.RadioSelect, error_messages={"required": "Say whether it ran."}
    )
    result = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 4, "spellcheck": "false"}))
    reason = forms.CharField(
        max_length=2000,
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
        error_messages={"required": "Say how you know: whoever reads this later must be able to follow it."},
    )

    def clean_result(self) -> Any:
        """The JSON value; null for none."""
        text = self.cleaned_data["result"].strip()
        if not text:
            return None
        try:
            return json.loads(text)
        except ValueError as error:
            raise forms.ValidationError(
                f'The result is no JSON: {error}. A text stands in quotes, as in "R-17".'
            ) from None

    def clean(self) -> dict[str, Any]:
        """What did not run gave nothing."""
        found = super().clean() or self.cleaned_data
        if found.get("ran") == "no" and found.get("result") is not None:
            self.add_error("result", "What did not run has no result: clear it, or say that it ran.")
        return found


class SettlingAdmin(ByConversation):
    """Executions with the way to settle one."""

    def get_urls(self) -> list[Any]:
        """Beside the usual pages, the one that settles."""
        view = self.admin_site.admin_view(self.settle_view)
        return [path("<int:pk>/settle/", view, name="ce_sessions_execution_settle"), *super().get_urls()]

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """With the link for those who may, while there is something to settle."""
        fields = super().get_fields(request, obj)
        return ("to_settle", *fields) if obj and obj.status == "CLAIMED" and may_settle(request) else fields

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """The link is none to fill in."""
        return ("to_settle", *super().get_readonly_fields(request, obj))

    def to_settle(self, row: CePendingActionExecution) -> SafeString:
        """Where it is settled."""
        return format_html('<a class="ce-button" href="{}">Settle this execution</a>', settle_url(row.pk))

    to_settle.short_description = "waits for a person"  # type: ignore[attr-defined]

    def settle_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Ask what happened, or note it."""
        if not may_settle(request):
            raise PermissionDenied
        execution = CePendingActionExecution.objects.filter(pk=pk).first()
        if execution is None:
            raise Http404(f"There is no execution {pk}.")
        back = reverse("admin:ce_sessions_cependingactionexecution_change", args=[pk])
        may_read = request.user.has_perm(CONVERSATIONS)
        form = SettleForm(request.POST or None)
        if request.method == "POST" and form.is_valid() and self._settled(request, execution, form):
            self.message_user(request, "Settled. The conversation hears of it with its next yes.", messages.SUCCESS)
            return HttpResponseRedirect(back)
        context = {
            **self.admin_site.each_context(request),
            "title": f"Settle {execution.action_key}",
            "opts": self.opts,
            "execution": execution,
            "conversation": (self.conversation_page if may_read else self.conversation_name)(execution),
            "form": form,
            "back_url": back,
        }
        return TemplateResponse(request, "convengine/settle.html", context)

    def _settled(self, request: HttpRequest, execution: CePendingActionExecution, form: SettleForm) -> bool:
        user: Any = request.user
        given = form.cleaned_data
        settlement = Settlement(given["ran"] == "yes", user, given["reason"], given["result"])
        try:
            settle(execution.pk, settlement)
        except NotSettled as error:
            form.add_error(None, str(error))
            return False
        LogEntry.objects.log_actions(
            user.pk, [execution], CHANGE, f"{settlement.status}: {settlement.reason}", single_object=True
        )
        return True


def may_settle(request: HttpRequest) -> bool:
    """Operators do (R18)."""
    return bool(request.user.has_perm(PERMISSION))


def settle_url(pk: int) -> str:
    """The page of one execution."""
    return reverse("admin:ce_sessions_execution_settle", args=[pk])
