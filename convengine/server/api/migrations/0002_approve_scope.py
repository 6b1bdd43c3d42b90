from django.db import migrations, models

import convengine.server.api.models


def let_keys_approve_as_before(apps, schema_editor):
    keys = apps.get_model("ce_api", "CeApiKey").objects.using(schema_editor.connection.alias)
    for key in keys.all():
        if {"turns", "sessions"}.intersection(key.scopes) and "approve" not in key.scopes:
            key.scopes = [*key.scopes, "approve"]
            key.save(update_fields=["scopes"])


class Migration(migrations.Migration):

    dependencies = [("ce_api", "0001_initial")]

    operations = [
        migrations.AlterField(
            model_name="ceapikey",
            name="scopes",
            field=models.JSONField(
                default=convengine.server.api.models.every_scope_but_config,
                help_text="turns, sessions, audit, own_audit, config, approve",
            ),
        ),
        migrations.RunPython(let_keys_approve_as_before, migrations.RunPython.noop),
    ]
