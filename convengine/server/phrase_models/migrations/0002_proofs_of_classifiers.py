from django.db import migrations, models


def remove_rows(apps, schema_editor):
    """Remove what has no proof. It is made again at its next use."""
    for name in ("CePhraseModel", "CePhraseVector"):
        apps.get_model("ce_phrase_models", name).objects.all().delete()


PROOF = models.TextField(db_default="", default="", help_text="Proof that the product wrote this row.")
REFUSED = models.DateTimeField(help_text="When a process found it changed. It was made again.", null=True)


class Migration(migrations.Migration):

    dependencies = [
        ("ce_phrase_models", "0001_initial"),
    ]

    operations = [
        migrations.RunPython(remove_rows, migrations.RunPython.noop),
        migrations.AddField("cephrasemodel", "proof", PROOF),
        migrations.AddField("cephrasemodel", "refused_at", REFUSED),
        migrations.AddField("cephrasevector", "proof", PROOF),
        migrations.AddField("cephrasevector", "refused_at", REFUSED),
        migrations.AlterField(
            "cephrasevector",
            "name",
            models.CharField(
                help_text="The hash of all that it is made from.", max_length=64, primary_key=True, serialize=False
            ),
        ),
    ]
