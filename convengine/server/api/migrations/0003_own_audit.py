"""A scope more; only the words of the help change."""

from django.db import migrations, models

import convengine.server.api.models


class Migration(migrations.Migration):

    dependencies = [("ce_api", "0002_keys_of_ones_own")]

    operations = [
        migrations.AlterField(
            model_name="ceapikey",
            name="scopes",
            field=models.JSONField(
                default=convengine.server.api.models.every_scope_but_config,
                help_text="turns, sessions, audit, own_audit, config",
            ),
        ),
    ]
