"""The views say in new words that the events of a turn cannot be read."""

from typing import Any, ClassVar

from django.db import migrations

from audit.record.sql_views import create_views, drop_views


def make_views(apps: Any, schema_editor: Any) -> None:
    drop_views(schema_editor)
    create_views(schema_editor)


class Migration(migrations.Migration):
    """Both views anew."""

    dependencies: ClassVar = [("audit", "0011_listed_rows")]
    operations: ClassVar = [migrations.RunPython(make_views, migrations.RunPython.noop)]
