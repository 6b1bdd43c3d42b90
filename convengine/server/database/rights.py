"""The rights of the shipped groups of people, given by migrations."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from django.apps import apps as global_apps
from django.contrib.auth.management import create_permissions


def give_rights(app_label: str, rights: Mapping[str, Iterable[str]]) -> Callable[[Any, Any], None]:
    """For `RunPython`: make the groups, and give each the permissions of the app with these codenames."""

    def give(apps: Any, schema_editor: Any) -> None:
        alias = schema_editor.connection.alias
        # Permissions are usually made when all migrations are done; these are needed now.
        create_permissions(global_apps.get_app_config(app_label), verbosity=0, using=alias, apps=apps)
        permissions = apps.get_model("auth", "Permission").objects.using(alias)
        for name, codenames in rights.items():
            group, _ = apps.get_model("auth", "Group").objects.using(alias).get_or_create(name=name)
            group.permissions.add(*permissions.filter(content_type__app_label=app_label, codename__in=codenames))

    return give
