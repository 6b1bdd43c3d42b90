"""Configuration administrators erase, and see what was erased."""

from django.apps import apps as global_apps
from django.contrib.auth.management import create_permissions
from django.db import migrations


def let_them(apps, schema_editor):
    alias = schema_editor.connection.alias
    # Permissions are usually made when all migrations are done; these are needed now.
    create_permissions(global_apps.get_app_config("audit"), verbosity=0, using=alias, apps=apps)
    permissions = apps.get_model("auth", "Permission").objects.using(alias)
    group, _ = apps.get_model("auth", "Group").objects.using(alias).get_or_create(name="config_admin")
    codenames = ["view_ceerasure", "erase_person"]
    group.permissions.add(*permissions.filter(content_type__app_label="audit", codename__in=codenames))


class Migration(migrations.Migration):

    dependencies = [
        ('audit', '0012_chain_proofs'),
    ]

    operations = [
        migrations.AlterModelOptions(
            name='ceerasure',
            options={'permissions': [('erase_person', "Can erase a person's data")], 'verbose_name': 'erasure'},
        ),
        migrations.RunPython(let_them, migrations.RunPython.noop),
    ]
