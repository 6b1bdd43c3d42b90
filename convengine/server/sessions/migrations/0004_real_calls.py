from typing import Any

from django.db import migrations

NAME = "Can really call from the simulator"


def name_right(apps: Any, schema_editor: Any) -> None:
    """Django names a right when it makes it, and never again."""
    rights = apps.get_model("auth", "Permission").objects.using(schema_editor.connection.alias)
    rights.filter(content_type__app_label="ce_sessions", codename="take_real_turns").update(name=NAME)


class Migration(migrations.Migration):
    dependencies = [
        ("ce_sessions", "0003_proofs_of_rows"),
        ("auth", "0012_alter_user_first_name_max_length"),
    ]

    operations = [
        migrations.AlterModelOptions(
            name="ceconversation",
            options={
                "verbose_name": "conversation",
                "permissions": [("try_conversation", "Can try conversations"), ("take_real_turns", NAME)],
            },
        ),
        migrations.RunPython(name_right, migrations.RunPython.noop),
    ]
