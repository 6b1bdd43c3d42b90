"""Users and groups in the design of the admin; integrators' keys have their own page."""

from collections.abc import Collection, Iterator
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
from rest_framework_api_key import admin as _replaced_admin  # noqa: F401
from rest_framework_api_key.models import APIKey
from unfold.admin import ModelAdmin
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget

from convengine.server.deployment import conf

_LAST = "This is the last active administrator. Appoint another one first."


class RightsChoices(ModelChoiceIterator):
    """Rights grouped by the name of their model."""

    def __iter__(self) -> Iterator[Any]:
        groups: dict[str, list[Any]] = {}
        for right in self.queryset.select_related("content_type"):
            groups.setdefault(str(right.content_type).partition(" | ")[2], []).append(self.choice(right))
        yield from sorted(groups.items())


class RightsField(forms.ModelMultipleChoiceField):
    """The rights of a group, each with a checkbox."""

    iterator = RightsChoices

    def label_from_instance(self, obj: Permission) -> str:
        """`view`, because the heading has the model's name."""
        action = obj.codename.partition("_")[0]
        return action if action in ("add", "change", "delete", "view") else obj.name.removeprefix("Can ")


class RightsWidget(forms.CheckboxSelectMultiple):
    """Checkboxes, one line per model."""

    template_name = "convengine/rights.html"

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        """Use the project's own templates, which a form's renderer does not find."""
        return render_to_string(self.template_name, self.get_context(name, value, attrs))


def is_last_administrator(users: Collection[int]) -> bool:
    """Whether no active administrator is left without these users."""
    active = set(User.objects.filter(is_superuser=True, is_active=True).values_list("pk", flat=True))
    return bool(active) and active <= set(users)


class UserForm(UserChangeForm):
    def clean(self) -> Any:
        """Raises ValidationError if no active administrator would be left."""
        values = super().clean()
        if not (values.get("is_active") and values.get("is_superuser")) and is_last_administrator([self.instance.pk]):
            raise forms.ValidationError(_LAST)
        return values


class UserAdmin(BaseUserAdmin, ModelAdmin):
    """Users. Groups alone decide what a user may do."""

    form = UserForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm
    list_filter_submit = True
    filter_horizontal = ()
    fieldsets = (
        (None, {"fields": ("username", "password")}),
        ("Person", {"fields": ("first_name", "last_name", "email")}),
        ("Permissions", {"fields": ("is_active", "is_staff", "is_superuser", "groups")}),
        ("Dates", {"fields": ("last_login", "date_joined")}),
    )
    readonly_fields = ("last_login", "date_joined")

    def get_deleted_objects(self, objs: Any, request: Any) -> Any:
        """Refuse to delete the last active administrator, like rows that others need."""
        rows, counts, permissions, protected = super().get_deleted_objects(objs, request)
        if is_last_administrator([user.pk for user in objs]):
            protected = [*protected, _LAST]
        return rows, counts, permissions, protected

    def formfield_for_manytomany(self, db_field: Any, request: Any, **options: Any) -> Any:
        """Groups as checkboxes, because there are few."""
        options["widget"] = UnfoldAdminCheckboxSelectMultipleWidget
        options["help_text"] = "Nobody may do more than their groups may. See the manual: Permissions."
        return super().formfield_for_manytomany(db_field, request, **options)


class GroupAdmin(BaseGroupAdmin, ModelAdmin):
    filter_horizontal = ()

    def formfield_for_manytomany(self, db_field: Any, request: Any = None, **options: Any) -> Any:
        """The rights of existing pages."""
        pages = ContentType.objects.get_for_models(*admin.site._registry).values()
        of_pages = Permission.objects.filter(content_type__in=pages)
        return RightsField(of_pages, widget=RightsWidget, required=False, label="Permissions")


if conf.get("PEOPLE_ADMIN"):
    admin.site.index_title = "Home"
    # The library's own key model is not used.
    admin.site.unregister([User, Group, APIKey])
    admin.site.register(User, UserAdmin)
    admin.site.register(Group, GroupAdmin)
