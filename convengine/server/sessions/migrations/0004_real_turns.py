from django.apps import apps as global_apps
from django.contrib.auth.management import create_permissions
from django.db import migrations


def give_rights(apps, schema_editor):
    """Who tried conversations took real turns; the simulator takes none."""
    alias = schema_editor.connection.alias
    # Permissions are usually made when all migrations are done; these are needed now.
    create_permissions(global_apps.get_app_config("ce_sessions"), verbosity=0, using=alias, apps=apps)
    permissions = apps.get_model("auth", "Permission").objects.using(alias)
    before, after = (
        permissions.get(content_type__app_label="ce_sessions", codename=codename)
        for codename in ("try_conversation", "take_real_turns")
    )
    for group in before.group_set.all():
        group.permissions.add(after)
    for user in before.user_set.all():
        user.user_permissions.add(after)


class Migration(migrations.Migration):

    dependencies = [
        ('ce_sessions', '0003_extension_faults'),
    ]

    operations = [
        migrations.AlterModelOptions(
            name='ceconversation',
            options={'permissions': [('try_conversation', 'Can try conversations'), ('take_real_turns', 'Can take real turns in the admin, and really call from the simulator')], 'verbose_name': 'conversation'},
        ),
        migrations.RunPython(give_rights, migrations.RunPython.noop),
    ]
