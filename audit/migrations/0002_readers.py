"""Who reads the record (R18): the group qa all of it, operators what waits and what was claimed."""

from django.apps import apps as global_apps
from django.contrib.auth.management import create_permissions
from django.db import migrations

RUNNING = ("ceturnticket", "ceidempotency", "cependingactionexecution")
SESSIONS = ("ceconversation", "ceconversationhistory", "cememory", "cesessionunit", *RUNNING)
AUDIT = ("ceaudit", "ceturnrow", "cellmcalllog")
READERS = {"qa": {"ce_sessions": SESSIONS, "audit": AUDIT}, "operator": {"ce_sessions": RUNNING}}


def let_them_read(apps, schema_editor):
    alias = schema_editor.connection.alias
    # Permissions are usually made when all migrations are done; these are needed now.
    for label in ("ce_sessions", "audit"):
        create_permissions(global_apps.get_app_config(label), verbosity=0, using=alias, apps=apps)
    permissions = apps.get_model("auth", "Permission").objects.using(alias)
    for name, by_app in READERS.items():
        group, _ = apps.get_model("auth", "Group").objects.using(alias).get_or_create(name=name)
        for label, models in by_app.items():
            codenames = [f"view_{model}" for model in models]
            group.permissions.add(*permissions.filter(content_type__app_label=label, codename__in=codenames))


class Migration(migrations.Migration):
    dependencies = [
        ("audit", "0001_initial"),
        ("ce_sessions", "0001_initial"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
    ]

    operations = [migrations.RunPython(let_them_read, migrations.RunPython.noop)]
