"""Analysts and configuration administrators read the record as QA does (api-and-audit 3)."""

from django.db import migrations

READERS = ("analyst", "config_admin")
RECORD = ("ce_sessions", "audit")


def let_them_read(apps, schema_editor):
    alias = schema_editor.connection.alias
    groups = apps.get_model("auth", "Group").objects.using(alias)
    read = apps.get_model("auth", "Permission").objects.using(alias).filter(
        group__name="qa", content_type__app_label__in=RECORD, codename__startswith="view_"
    )
    for name in READERS:
        group, _ = groups.get_or_create(name=name)
        group.permissions.add(*read)


class Migration(migrations.Migration):
    dependencies = [("audit", "0004_smaller_indexes")]

    operations = [migrations.RunPython(let_them_read, migrations.RunPython.noop)]
