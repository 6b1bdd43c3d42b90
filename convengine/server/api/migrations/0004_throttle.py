from django.db import migrations, models


def write_no_log(apps, schema_editor):
    """The counters need not outlive a crash of the database."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("ALTER TABLE ce_throttle SET UNLOGGED")


class Migration(migrations.Migration):

    dependencies = [("ce_api", "0003_keys_of_deleted_users")]

    operations = [
        migrations.CreateModel(
            name="CeThrottle",
            fields=[
                ("key", models.CharField(help_text="The hash of what is counted.", max_length=64, primary_key=True, serialize=False)),
                ("count", models.IntegerField(help_text="Calls in its time window, or attempts that were not forgotten.")),
                ("next_at", models.FloatField(help_text="When the next attempt is possible: seconds since 1970.")),
                ("expires_at", models.FloatField(help_text="When the row may be removed.")),
            ],
            options={
                "db_table": "ce_throttle",
                "indexes": [models.Index(fields=["expires_at"], name="ce_throttle_expires")],
            },
        ),
        migrations.RunPython(write_no_log, migrations.RunPython.noop),
    ]
