"""Integrators make keys of their own, and see no others (R18)."""

import django.db.models.deletion
from django.apps import apps as global_apps
from django.conf import settings
from django.contrib.auth.management import create_permissions
from django.db import migrations, models

RIGHTS = ["view_ceapikey", "add_ceapikey", "change_ceapikey"]


def let_them_make_keys(apps, schema_editor):
    alias = schema_editor.connection.alias
    # Permissions are usually made when all migrations are done; these are needed now.
    create_permissions(global_apps.get_app_config("ce_api"), verbosity=0, using=alias, apps=apps)
    permissions = apps.get_model("auth", "Permission").objects.using(alias)
    group, _ = apps.get_model("auth", "Group").objects.using(alias).get_or_create(name="integrator")
    group.permissions.add(*permissions.filter(content_type__app_label="ce_api", codename__in=RIGHTS))


class Migration(migrations.Migration):
    dependencies = [
        ("ce_api", "0001_initial"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="ceapikey",
            name="made_by",
            field=models.ForeignKey(
                blank=True,
                editable=False,
                help_text="Integrators can only see and revoke their own keys.",
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
                verbose_name="created by",
            ),
        ),
        migrations.RunPython(let_them_make_keys, migrations.RunPython.noop),
    ]
