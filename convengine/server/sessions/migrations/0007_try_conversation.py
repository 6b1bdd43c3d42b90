"""Whoever edits the configuration may try it out (R18)."""

from django.apps import apps as global_apps
from django.contrib.auth.management import create_permissions
from django.db import migrations

EDITORS = ("analyst", "config_admin")


def let_them_try(apps, schema_editor):
    alias = schema_editor.connection.alias
    # Permissions are usually made when all migrations are done; this one is needed now.
    create_permissions(global_apps.get_app_config("ce_sessions"), verbosity=0, using=alias, apps=apps)
    permissions = apps.get_model("auth", "Permission").objects.using(alias)
    right = permissions.get(content_type__app_label="ce_sessions", codename="try_conversation")
    for name in EDITORS:
        group, _ = apps.get_model("auth", "Group").objects.using(alias).get_or_create(name=name)
        group.permissions.add(right)


class Migration(migrations.Migration):

    dependencies = [
        ("ce_sessions", "0006_thread_readers"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
    ]

    operations = [
        migrations.AlterModelOptions(
            name="ceconversation",
            options={"permissions": [("try_conversation", "Can try conversations")], "verbose_name": "conversation"},
        ),
        migrations.RunPython(let_them_try, migrations.RunPython.noop),
    ]
