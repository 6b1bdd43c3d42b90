"""Messages of alerts have the columns of every outbox; in the database nothing changes."""

from typing import ClassVar

from django.db import migrations, models


class Migration(migrations.Migration):
    """Other labels."""

    dependencies: ClassVar = [("audit", "0007_plain_inbox_and_silence")]
    operations: ClassVar = [
        migrations.AlterField(
            "cealertmessage",
            "error",
            models.TextField("last error", blank=True, default="", help_text="Why the last attempt failed."),
        ),
        migrations.AlterField(
            "cealertmessage",
            "status",
            models.CharField(
                max_length=7,
                choices=[("PENDING", "Waiting"), ("SENT", "Sent"), ("FAILED", "Abandoned")],
                default="PENDING",
                help_text="Delivery status.",
            ),
        ),
    ]
