"""Who keeps documents, and who sees what tools sent (R18)."""

from django.apps import apps as global_apps
from django.contrib.auth.management import create_permissions
from django.db import migrations

DOCUMENTS = ("cedocument", "cedocumentcollection")
EDIT = [f"{action}_{model}" for action in ("view", "add", "change", "delete") for model in DOCUMENTS]
SEE = [f"view_{model}" for model in DOCUMENTS]
MESSAGES = ["view_cenotification"]
GROUPS = {"analyst": EDIT, "config_admin": EDIT, "qa": [*SEE, *MESSAGES], "operator": MESSAGES}


def let_them_work(apps, schema_editor):
    alias = schema_editor.connection.alias
    # Permissions are usually made when all migrations are done; these are needed now.
    create_permissions(global_apps.get_app_config("ce_executors"), verbosity=0, using=alias, apps=apps)
    permissions = apps.get_model("auth", "Permission").objects.using(alias)
    for name, codenames in GROUPS.items():
        group, _ = apps.get_model("auth", "Group").objects.using(alias).get_or_create(name=name)
        group.permissions.add(*permissions.filter(content_type__app_label="ce_executors", codename__in=codenames))


class Migration(migrations.Migration):
    dependencies = [
        ("ce_executors", "0001_initial"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
    ]

    operations = [migrations.RunPython(let_them_work, migrations.RunPython.noop)]
