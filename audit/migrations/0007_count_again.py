"""Hand-overs by conversation and model failures are counted, too."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("audit", "0006_inbox_kinds")]

    operations = [
        migrations.AlterField(
            model_name="ceturncount",
            name="kind",
            field=models.TextField(
                help_text="What is counted: such as TURN, STATE or STAGE, or the table of a deciding row."
            ),
        ),
    ]
