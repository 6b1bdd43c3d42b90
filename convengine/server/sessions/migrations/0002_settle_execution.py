"""Who settles executions that nobody saw the end of (R18): operators."""

from django.apps import apps as global_apps
from django.contrib.auth.management import create_permissions
from django.db import migrations


def let_operators_settle(apps, schema_editor):
    alias = schema_editor.connection.alias
    # Permissions are usually made when all migrations are done; this one is needed now.
    create_permissions(global_apps.get_app_config("ce_sessions"), verbosity=0, using=alias, apps=apps)
    permissions = apps.get_model("auth", "Permission").objects.using(alias)
    group, _ = apps.get_model("auth", "Group").objects.using(alias).get_or_create(name="operator")
    group.permissions.add(*permissions.filter(content_type__app_label="ce_sessions", codename="settle_execution"))


class Migration(migrations.Migration):
    dependencies = [
        ("ce_sessions", "0001_initial"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
    ]

    operations = [
        migrations.AlterModelOptions(
            name="cependingactionexecution",
            options={
                "verbose_name": "action execution",
                "permissions": [("settle_execution", ("Can record the outcome of an execution whose result is "
"unknown"))],
            },
        ),
        migrations.RunPython(let_operators_settle, migrations.RunPython.noop),
    ]
