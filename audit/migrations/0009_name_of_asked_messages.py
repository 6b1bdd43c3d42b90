"""The kind of messages after which users were asked what they meant has a true name; in the database nothing changes."""

from typing import ClassVar

from django.db import migrations, models


class Migration(migrations.Migration):
    """Another label."""

    dependencies: ClassVar = [("audit", "0008_alert_messages_in_outbox")]
    operations: ClassVar = [
        migrations.AlterField(
            "ceinboxgroup",
            "kind",
            models.CharField(
                max_length=20,
                choices=[
                    ("NOT_UNDERSTOOD", "Not understood"),
                    ("TWO_INTENTS", "Asked what was meant"),
                    ("REFUSED_VALUE", "Refused values"),
                    ("FORM_GIVEN_UP", "Forms given up"),
                    ("HANDED_OVER", "Handed over"),
                    ("NEGATIVE", "Negative feedback"),
                ],
                default="NOT_UNDERSTOOD",
                help_text="What went wrong.",
            ),
        ),
    ]
