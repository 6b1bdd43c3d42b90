"""Who reads the record reads threads too (R18, api-and-audit 3)."""

from django.apps import apps as global_apps
from django.contrib.auth.management import create_permissions
from django.db import migrations

READERS = ("qa", "analyst", "config_admin")


def let_them_read(apps, schema_editor):
    alias = schema_editor.connection.alias
    # Permissions are usually made when all migrations are done; this one is needed now.
    create_permissions(global_apps.get_app_config("ce_sessions"), verbosity=0, using=alias, apps=apps)
    permissions = apps.get_model("auth", "Permission").objects.using(alias)
    view = permissions.get(content_type__app_label="ce_sessions", codename="view_cethread")
    for name in READERS:
        group, _ = apps.get_model("auth", "Group").objects.using(alias).get_or_create(name=name)
        group.permissions.add(view)


class Migration(migrations.Migration):

    dependencies = [
        ("ce_sessions", "0005_thread_participant"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
    ]

    operations = [migrations.RunPython(let_them_read, migrations.RunPython.noop)]
