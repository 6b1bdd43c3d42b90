"""Admin pages of API keys: made, shown once, revoked."""

from copy import deepcopy
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget, UnfoldAdminTextInputWidget

from convengine.server.admin_site.pages import PagesAdmin
from convengine.server.admin_site.record_columns import badge_column
from convengine.server.admin_site.rights import SCOPE_RIGHTS
from convengine.server.api.models import SCOPES, CeApiKey, every_scope_but_config

_OWN = "own_audit"


class ApiKeyForm(forms.ModelForm):
    workspace_id = forms.CharField(
        label="Workspace",
        initial="default",
        max_length=120,
        widget=UnfoldAdminTextInputWidget(),
        help_text="The key can only access conversations of this workspace.",
    )
    scopes = forms.MultipleChoiceField(
        choices=SCOPES,
        initial=every_scope_but_config,
        widget=UnfoldAdminCheckboxSelectMultipleWidget(),
        help_text="What the key may be used for.",
        error_messages={"required": "Choose at least one scope. A key without a scope has no access."},
    )


@admin.register(CeApiKey)
class ApiKeyAdmin(PagesAdmin):
    """API keys. The secret is shown once after a key is made; only its hash is stored."""

    form = ApiKeyForm
    list_before_template = "convengine/api_docs.html"
    list_display = ("name", "usable", "workspace_id", "scope_list", "maker", "prefix", "created", "expiry_date")
    list_select_related = ("made_by",)
    list_filter_submit = True
    search_fields = ("name", "prefix", "workspace_id")
    ordering = ("-created",)
    actions = ("revoke_selected",)

    def get_fieldsets(self, request: HttpRequest, obj: CeApiKey | None = None) -> Any:
        """A new key has no prefix yet, and cannot be revoked."""
        made = ("prefix", "maker", "created", "standing") if obj else ()
        return [(None, {"fields": ("name", "workspace_id", "scopes", "expiry_date", *made)})]

    def get_readonly_fields(self, request: HttpRequest, obj: CeApiKey | None = None) -> tuple[str, ...]:
        """The properties of a key cannot change."""
        return ("prefix", "maker", "created", "standing") if obj else ()

    def get_queryset(self, request: HttpRequest) -> QuerySet[CeApiKey]:
        """All keys for configuration administrators; otherwise the user's own."""
        keys: QuerySet[CeApiKey] = super().get_queryset(request)
        return keys if self.has_delete_permission(request) else keys.filter(made_by=request.user.pk)

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **options: Any) -> Any:
        """The form, with the scopes that this user may give."""
        form = super().get_form(request, obj, change, **options)
        if "scopes" in form.base_fields:
            # The field belongs to the class; this request gets a copy.
            narrowed = form.base_fields["scopes"] = deepcopy(form.base_fields["scopes"])
            refused = {name for name, rights in SCOPE_RIGHTS.items() if not request.user.has_perms(rights)}
            # A key keeps the scopes that it has.
            current = set(obj.scopes) if obj else set()
            narrowed.choices = [(name, label) for name, label in SCOPES if name not in refused - current]
            narrowed.initial = [_OWN if name in refused else name for name in every_scope_but_config()]
        return form

    @badge_column({"revoked": "danger", "late": "warning", "valid": "success"}, "status")
    def usable(self, key: CeApiKey) -> tuple[str, str]:
        """Whether the key is valid."""
        if key.revoked:
            return "revoked", "revoked"
        late = key.expiry_date and key.expiry_date <= timezone.now()
        return ("late", "expired") if late else ("valid", "valid")

    @admin.display(description="status")
    def standing(self, key: CeApiKey) -> str:
        """Whether the key can be used, in words."""
        return self.usable(key)[1]

    @admin.display(description="created by")
    def maker(self, key: CeApiKey) -> str:
        return key.made_by.get_username() if key.made_by else "-"

    @admin.display(description="scopes")
    def scope_list(self, key: CeApiKey) -> str:
        return ", ".join(key.scopes)

    @admin.action(description="Revoke selected keys", permissions=["change"])
    def revoke_selected(self, request: HttpRequest, queryset: QuerySet[CeApiKey]) -> None:
        """These keys become invalid at once and for good."""
        revoked = queryset.filter(revoked=False).update(revoked=True)
        keys = "1 key was" if revoked == 1 else f"{revoked} keys were"
        self.message_user(request, f"{keys} revoked. Calls with a revoked key are rejected.", messages.SUCCESS)

    def save_model(self, request: HttpRequest, obj: CeApiKey, form: Any, change: bool) -> None:
        """Store the key; a new one gets its secret, which the next page shows."""
        key: Any = obj
        if not change:
            key.made_by = request.user
            key.secret = type(obj).objects.assign_key(obj)
        obj.save()

    def response_add(self, request: HttpRequest, obj: Any, post_url_continue: str | None = None) -> HttpResponse:
        """The only page that shows the secret. It is not stored anywhere, not even in the session or a cookie."""
        context = {
            **self.admin_site.each_context(request),
            "title": "API key created",
            "opts": self.opts,
            "key": obj,
            "secret": obj.secret,
        }
        return TemplateResponse(request, "convengine/api_key_created.html", context)
