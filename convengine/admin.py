"""People and their groups, on the pages of the rest of the admin; keys of integrators have a page of their own."""

from collections.abc import Iterator
from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin as BaseGroupAdmin
from django.contrib.auth.admin import UserAdmin as BaseUserAdmin
from django.contrib.auth.models import Group, Permission, User
from django.contrib.contenttypes.models import ContentType
from django.forms.models import ModelChoiceIterator
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from rest_framework_api_key.models import APIKey
from unfold.admin import ModelAdmin
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget

admin.site.index_title = "Home"
# The library's own kind of key opens nothing here (R53).
admin.site.unregister([User, Group, APIKey])


class RightsChoices(ModelChoiceIterator):
    """Rights under the name of what they are about, in the order of those names."""

    def __iter__(self) -> Iterator[Any]:
        found: dict[str, list[Any]] = {}
        for right in self.queryset.select_related("content_type"):
            found.setdefault(str(right.content_type).partition(" | ")[2], []).append(self.choice(right))
        yield from sorted(found.items())


class RightsField(forms.ModelMultipleChoiceField):
    """Which rights a group has: all in sight, each a box."""

    iterator = RightsChoices

    def label_from_instance(self, obj: Permission) -> str:
        """`view`, where Django says "Can view audit event" below the heading "audit event"."""
        action = obj.codename.partition("_")[0]
        return action if action in ("add", "change", "delete", "view") else obj.name.removeprefix("Can ")


class RightsWidget(forms.CheckboxSelectMultiple):
    """Boxes, those of one thing on one line."""

    template_name = "convengine/rights.html"

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        """By the project's own templates, among which a form's renderer does not look."""
        return render_to_string(self.template_name, self.get_context(name, value, attrs))


@admin.register(User)
class UserAdmin(BaseUserAdmin, ModelAdmin):
    """People. What somebody may do comes from groups alone (R18)."""

    form = UserChangeForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm
    list_filter_submit = True
    filter_horizontal = ()
    fieldsets = (
        (None, {"fields": ("username", "password")}),
        ("Who", {"fields": ("first_name", "last_name", "email")}),
        ("What they may do", {"fields": ("is_active", "is_staff", "is_superuser", "groups")}),
        ("When", {"fields": ("last_login", "date_joined")}),
    )
    readonly_fields = ("last_login", "date_joined")

    def formfield_for_manytomany(self, db_field: Any, request: Any, **options: Any) -> Any:
        """Groups are few: a box for each."""
        options["widget"] = UnfoldAdminCheckboxSelectMultipleWidget
        options["help_text"] = "Nobody may do more than their groups may. See the manual: Who may do what."
        return super().formfield_for_manytomany(db_field, request, **options)


@admin.register(Group)
class GroupAdmin(BaseGroupAdmin, ModelAdmin):
    """Groups and what their members may do."""

    filter_horizontal = ()

    def formfield_for_manytomany(self, db_field: Any, request: Any = None, **options: Any) -> Any:
        """The rights to the pages that there are."""
        pages = ContentType.objects.get_for_models(*admin.site._registry).values()
        of_pages = Permission.objects.filter(content_type__in=pages)
        return RightsField(of_pages, widget=RightsWidget, required=False, label="Rights")
