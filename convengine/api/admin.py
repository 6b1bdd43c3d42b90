"""Keys of integrators: made, shown once, revoked (R53)."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from unfold.admin import ModelAdmin
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget, UnfoldAdminTextInputWidget

from convengine.api.models import SCOPES, CeApiKey, every_scope_but_config
from convengine.record_columns import labelled


class ApiKeyForm(forms.ModelForm):
    """A key's name, workspace, scopes and last day."""

    workspace_id = forms.CharField(
        label="Workspace",
        initial="default",
        max_length=120,
        widget=UnfoldAdminTextInputWidget(),
        help_text="The key sees the conversations of this workspace and of no other.",
    )
    scopes = forms.MultipleChoiceField(
        choices=SCOPES,
        initial=every_scope_but_config,
        widget=UnfoldAdminCheckboxSelectMultipleWidget(),
        help_text="What the key may be used for.",
        error_messages={"required": "Choose at least one scope; a key without any opens nothing."},
    )


@admin.register(CeApiKey)
class ApiKeyAdmin(ModelAdmin):
    """Keys. The secret is shown on the page that follows its making, and never again: only its hash is kept."""

    form = ApiKeyForm
    list_display = ("name", "usable", "workspace_id", "scope_list", "prefix", "created", "expiry_date")
    list_filter_submit = True
    search_fields = ("name", "prefix", "workspace_id")
    ordering = ("-created",)
    actions = ("revoke_selected",)

    def get_fieldsets(self, request: HttpRequest, obj: CeApiKey | None = None) -> Any:
        """A new key has no prefix yet, and nothing to revoke."""
        made = ("prefix", "created", "standing") if obj else ()
        return [(None, {"fields": ("name", "workspace_id", "scopes", "expiry_date", *made)})]

    def get_readonly_fields(self, request: HttpRequest, obj: CeApiKey | None = None) -> tuple[str, ...]:
        """What the key is made of does not change."""
        return ("prefix", "created", "standing") if obj else ()

    @labelled({"revoked": "danger", "late": "warning", "valid": "success"}, "status")
    def usable(self, key: CeApiKey) -> tuple[str, str]:
        """Whether the key opens anything."""
        if key.revoked:
            return "revoked", "revoked"
        late = key.expiry_date and key.expiry_date <= timezone.now()
        return ("late", "out of date") if late else ("valid", "valid")

    @admin.display(description="status")
    def standing(self, key: CeApiKey) -> str:
        """The same, in words."""
        return self.usable(key)[1]

    @admin.display(description="scopes")
    def scope_list(self, key: CeApiKey) -> str:
        """What it may be used for."""
        return ", ".join(key.scopes)

    @admin.action(description="Revoke selected keys", permissions=["change"])
    def revoke_selected(self, request: HttpRequest, queryset: QuerySet[CeApiKey]) -> None:
        """From now on these keys open nothing; that cannot be taken back."""
        revoked = queryset.filter(revoked=False).update(revoked=True)
        keys = "1 key was" if revoked == 1 else f"{revoked} keys were"
        self.message_user(request, f"{keys} revoked. Calls with it are refused from now on.", messages.SUCCESS)

    def save_model(self, request: HttpRequest, obj: CeApiKey, form: Any, change: bool) -> None:
        """Store the key; a new one gets its secret, which the next page shows."""
        key: Any = obj
        if not change:
            key.secret = type(obj).objects.assign_key(obj)
        obj.save()

    def response_add(self, request: HttpRequest, obj: Any, post_url_continue: str | None = None) -> HttpResponse:
        """The one page that shows the secret. It is kept nowhere, also not in the session or a cookie."""
        context = {
            **self.admin_site.each_context(request),
            "title": "API key created",
            "opts": self.opts,
            "key": obj,
            "secret": obj.secret,
        }
        return TemplateResponse(request, "convengine/api_key_created.html", context)
