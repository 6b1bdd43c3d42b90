"""People and their groups, on the pages of the rest of the admin; keys of integrators have a page of their own."""

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin as BaseGroupAdmin
from django.contrib.auth.admin import UserAdmin as BaseUserAdmin
from django.contrib.auth.models import Group, User
from rest_framework_api_key.models import APIKey
from unfold.admin import ModelAdmin
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

admin.site.index_title = "Home"
# The library's own kind of key opens nothing here (R53).
admin.site.unregister([User, Group, APIKey])


@admin.register(User)
class UserAdmin(BaseUserAdmin, ModelAdmin):
    """People. What somebody may do comes from groups (R18)."""

    form = UserChangeForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm
    list_filter_submit = True


@admin.register(Group)
class GroupAdmin(BaseGroupAdmin, ModelAdmin):
    """Groups and what their members may do."""
