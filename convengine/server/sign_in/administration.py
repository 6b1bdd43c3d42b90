"""Pages for administrators: groups of the provider, connected accounts, second factors and sessions."""

from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.base.internal.flows import delete_dangling_recovery_codes
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from allauth.usersessions.models import UserSession
from django.contrib import admin
from django.http import HttpRequest

from convengine.server.admin_site.pages import PagesAdmin
from convengine.server.admin_site.sign_in_log import log_access_change
from convengine.server.deployment import conf
from convengine.server.sign_in.models import CeGroupMapping

# What the library stores about a user has pages in our design, and its settings come from the environment.
admin.site.unregister([EmailAddress, SocialAccount, SocialApp, SocialToken, Authenticator, UserSession])


class AdministratorsAdmin(PagesAdmin):
    """Pages that only administrators see. Each change has an entry in the access log."""

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return bool(request.user.is_superuser)

    has_module_permission = has_delete_permission = has_view_permission

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        owner = f"{obj.user.get_username()}, " if hasattr(obj, "user") else ""
        log_access_change(request, f"{self.opts.verbose_name} removed: {owner}{obj}")
        # A user session has `end`, which also signs the browser out.
        getattr(obj, "end", obj.delete)()
        if isinstance(obj, Authenticator):
            delete_dangling_recovery_codes(obj.user)

    def delete_queryset(self, request: HttpRequest, queryset: Any) -> None:
        for row in queryset:
            self.delete_model(request, row)


class GroupMappingAdmin(AdministratorsAdmin):
    list_display = ("claim", "group")
    has_add_permission = has_change_permission = AdministratorsAdmin.has_view_permission

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        before = f"{CeGroupMapping.objects.get(pk=obj.pk)} is now " if change else ""
        super().save_model(request, obj, form, change)
        word = "changed" if change else "added"
        log_access_change(request, f"{self.opts.verbose_name} {word}: {before}{obj}")


class UserRowsAdmin(AdministratorsAdmin):
    """Rows that users create by signing in. Administrators can only remove them."""

    search_fields = ("user__username",)
    list_select_related = ("user",)
    ordering = ("-pk",)

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    has_change_permission = has_add_permission


def _register(model: Any, *columns: str) -> None:
    shown = ("user", *columns)
    admin.site.register(model, UserRowsAdmin, list_display=shown, fields=shown)


_register(UserSession, "created_at", "ip", "user_agent")
if conf.get("SIGN_IN")["issuer"]:
    admin.site.register(CeGroupMapping, GroupMappingAdmin)
    _register(SocialAccount, "provider", "uid", "last_login")
if conf.get("SIGN_IN")["second_factor"] != "off":
    _register(Authenticator, "type", "created_at", "last_used_at")
