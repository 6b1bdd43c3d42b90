"""The inbox keeps which turns a group has, and no more; a rule is silenced in its own row.

The next run of the job fills the messages of the inbox. Silences end.
"""

from typing import ClassVar

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    """Two tables less, and one made anew."""

    dependencies: ClassVar = [("audit", "0006_one_chain_per_table")]
    operations: ClassVar = [
        migrations.DeleteModel(name="CeInboxProgress"),
        migrations.DeleteModel(name="CeInboxMessage"),
        migrations.DeleteModel(name="CeAlertSilence"),
        migrations.CreateModel(
            name="CeInboxMessage",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                (
                    "group",
                    models.ForeignKey(
                        db_index=False,
                        help_text="The group of messages like it.",
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="audit.ceinboxgroup",
                    ),
                ),
                (
                    "turn",
                    models.ForeignKey(
                        db_constraint=False,
                        help_text="The turn; it may be gone.",
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="ce_sessions.ceconversationhistory",
                    ),
                ),
            ],
            options={
                "verbose_name": "message of the inbox",
                "verbose_name_plural": "messages of the inbox",
                "db_table": "ce_inbox_message",
                "default_permissions": (),
                "constraints": [models.UniqueConstraint(fields=("group", "turn"), name="ce_inbox_message_once")],
            },
        ),
        migrations.AddField(
            "cealertrule",
            "silenced_until",
            models.DateTimeField(null=True, editable=False, help_text="Until then, nobody gets a message."),
        ),
        migrations.AddField(
            "cealertrule",
            "silenced_by",
            models.CharField(
                max_length=150,
                blank=True,
                default="",
                editable=False,
                help_text="A user, or the prefix of an API key.",
            ),
            preserve_default=False,
        ),
        migrations.AddField(
            "cealertrule",
            "silence_reason",
            models.TextField(blank=True, default="", editable=False, help_text="Why it is silenced."),
            preserve_default=False,
        ),
    ]
