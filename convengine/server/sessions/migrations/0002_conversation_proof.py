"""Each conversation has a proof of its participant and its channel; those that exist get it now."""

from typing import Any, ClassVar

from django.db import migrations, models

from convengine.server.sessions.models import prove_identity


def prove_conversations(apps: Any, schema_editor: Any) -> None:
    """Prove the conversations as they are."""
    conversations = apps.get_model("ce_sessions", "CeConversation").objects.using(schema_editor.connection.alias)
    names = ("conversation_id", "workspace_id", "channel", "remote_jid", "opened_by")
    for values in conversations.values_list(*names).iterator():
        conversations.filter(pk=values[0]).update(proof=prove_identity(*values))


class Migration(migrations.Migration):
    """A column, filled."""

    dependencies: ClassVar = [("ce_sessions", "0001_initial")]
    operations: ClassVar = [
        migrations.AddField(
            model_name="ceconversation",
            name="proof",
            field=models.TextField(default="", help_text="Proof that the product wrote this row."),
        ),
        migrations.RunPython(prove_conversations, migrations.RunPython.noop),
    ]
