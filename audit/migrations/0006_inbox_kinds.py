"""Groups of more kinds, by workspace; their fingerprints become keyed hashes."""

from django.db import migrations, models
from django.utils.crypto import salted_hmac

_BATCH = 1000


def key_fingerprints(apps, schema_editor):
    alias = schema_editor.connection.alias
    groups = apps.get_model("audit", "CeInboxGroup").objects.using(alias)
    turns = apps.get_model("ce_sessions", "CeConversationHistory")._base_manager.using(alias)
    rows = list(groups.all())
    workspaces = {}
    for start in range(0, len(rows), _BATCH):
        leaders = [row.leader for row in rows[start : start + _BATCH]]
        workspaces |= dict(turns.filter(pk__in=leaders).values_list("pk", "conversation__workspace_id"))
    for row in rows:
        row.workspace_id = workspaces.get(row.leader, "default")
        row.fingerprint = salted_hmac("convengine inbox group", row.fingerprint, algorithm="sha256").hexdigest()
    groups.bulk_update(rows, ["workspace_id", "fingerprint"], _BATCH)


class Migration(migrations.Migration):

    dependencies = [
        ("audit", "0005_inbox"),
    ]

    operations = [
        migrations.RemoveIndex(model_name="ceinboxgroup", name="ce_inbox_group_order"),
        migrations.AddField(
            model_name="ceinboxgroup",
            name="workspace_id",
            field=models.TextField(
                default="default", help_text="The workspace of the messages.", verbose_name="workspace"
            ),
        ),
        migrations.AddField(
            model_name="ceinboxgroup",
            name="kind",
            field=models.CharField(
                choices=[
                    ("NOT_UNDERSTOOD", "Not understood"),
                    ("TWO_INTENTS", "Two intents"),
                    ("REFUSED_VALUE", "Refused values"),
                    ("FORM_GIVEN_UP", "Forms given up"),
                    ("HANDED_OVER", "Handed over"),
                    ("NEGATIVE", "Negative feedback"),
                ],
                default="NOT_UNDERSTOOD",
                help_text="What went wrong.",
                max_length=20,
            ),
        ),
        migrations.AddField(
            model_name="ceinboxgroup",
            name="intent_code",
            field=models.TextField(default="", help_text="The intent of the form.", verbose_name="intent"),
        ),
        migrations.AddField(
            model_name="ceinboxgroup",
            name="field_name",
            field=models.TextField(default="", help_text="The field whose value was refused.", verbose_name="field"),
        ),
        migrations.AddField(
            model_name="ceinboxgroup",
            name="detail",
            field=models.TextField(default="", help_text="Why the value was refused."),
        ),
        migrations.AddField(
            model_name="ceinboxgroup",
            name="table_name",
            field=models.TextField(default="", help_text="The table of the row that the messages met.", verbose_name="table"),
        ),
        migrations.AddField(
            model_name="ceinboxgroup",
            name="row_pk",
            field=models.TextField(default="", help_text="The form or the answer that the messages met.", verbose_name="row"),
        ),
        migrations.AddField(
            model_name="ceinboxgroup",
            name="decision",
            field=models.TextField(default="", help_text="The last decision of a person in words. It stays."),
        ),
        migrations.AddField(
            model_name="ceinboxgroup",
            name="decision_at",
            field=models.DateTimeField(help_text="When that was.", null=True),
        ),
        migrations.AlterField(
            model_name="ceinboxgroup",
            name="fingerprint",
            field=models.CharField(
                help_text="A keyed hash of what the messages have in common, by which the group is known again.",
                max_length=64,
            ),
        ),
        migrations.AddConstraint(
            model_name="ceinboxgroup",
            constraint=models.UniqueConstraint(fields=("workspace_id", "fingerprint"), name="ce_inbox_group_once"),
        ),
        migrations.AddIndex(
            model_name="ceinboxgroup",
            index=models.Index(fields=["status", "kind", "-messages", "id"], name="ce_inbox_group_order"),
        ),
        migrations.RunPython(key_fingerprints, migrations.RunPython.noop),
    ]
