"""Whose conversation it is: some keys read only their own (api-and-audit 3.3)."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [("ce_sessions", "0009_chain")]

    operations = [
        migrations.AddField(
            model_name="ceconversation",
            name="opened_by",
            field=models.TextField(help_text='The prefix of the API key that started the conversation. Empty if a user of the admin started it.', null=True),
        ),
    ]
