"""What people think of answers: whoever reads turns sees it, and may say it."""

import django.db.models.deletion
import django.utils.timezone
from django.apps import apps as global_apps
from django.contrib.auth.management import create_permissions
from django.db import migrations, models


def let_them_rate(apps, schema_editor):
    alias = schema_editor.connection.alias
    # Permissions are usually made when all migrations are done; these are needed now.
    create_permissions(global_apps.get_app_config("audit"), verbosity=0, using=alias, apps=apps)
    permissions = apps.get_model("auth", "Permission").objects.using(alias)
    wanted = permissions.filter(
        content_type__app_label="audit", codename__in=["view_cemcpuserfeedback", "add_cemcpuserfeedback"]
    )
    for name in ("analyst", "config_admin", "qa"):
        group, _ = apps.get_model("auth", "Group").objects.using(alias).get_or_create(name=name)
        group.permissions.add(*wanted)


class Migration(migrations.Migration):

    dependencies = [
        ('audit', '0010_chain'),
        ('ce_sessions', '0009_chain'),
    ]

    operations = [
        migrations.CreateModel(
            name='CeMcpUserFeedback',
            fields=[
                ('feedback_id', models.BigAutoField(primary_key=True, serialize=False, verbose_name='id')),
                ('feedback_type', models.TextField(choices=[('THUMBS_UP', 'Thumbs up'), ('THUMBS_DOWN', 'Thumbs down')], help_text='Thumbs up or down.', verbose_name='rating')),
                ('message_id', models.CharField(help_text='The id of the answer at the client, or of the turn.', max_length=128, null=True)),
                ('turn_id', models.UUIDField(help_text='The rated turn.')),
                ('turn_no', models.IntegerField(help_text='The number of the turn in the conversation.', verbose_name='turn')),
                ('author', models.TextField(help_text='participant for feedback from the API, else the name of the user.')),
                ('intent_code', models.TextField(help_text='The intent at the end of the turn.', null=True, verbose_name='intent')),
                ('state_code', models.TextField(help_text='The state at the end of the turn.', null=True, verbose_name='state')),
                ('user_query', models.TextField(help_text='The message of the user.', null=True, verbose_name='message')),
                ('assistant_response', models.TextField(help_text='The answer as it was shown or stored.', null=True, verbose_name='answer')),
                ('mcp_tool_code', models.TextField(help_text='The tool of the newest result of the planner.', null=True, verbose_name='tool')),
                ('comment', models.TextField(blank=True, default='', help_text='The comment on the answer.')),
                ('correction', models.TextField(blank=True, default='', help_text='The answer that was expected.')),
                ('table_name', models.TextField(blank=True, default='', help_text='The table of the row that answered.', verbose_name='table')),
                ('row_pk', models.TextField(blank=True, default='', help_text='The row that answered.', verbose_name='row')),
                ('config_version', models.BigIntegerField(help_text='The release of the turn.', null=True, verbose_name='release')),
                ('captured_query_knowledge_count', models.IntegerField(default=0, help_text='Always 0. Reserved for a later module.', verbose_name='captured knowledge')),
                ('applied_query_knowledge_json', models.JSONField(help_text='Empty. Reserved for a later module.', null=True, verbose_name='applied knowledge')),
                ('metadata_json', models.JSONField(help_text='Additional data of the caller.', null=True, verbose_name='metadata')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, verbose_name='time')),
                ('replaced_at', models.DateTimeField(help_text='When the same person rated this turn again.', null=True, verbose_name='replaced')),
                ('conversation', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='feedback', to='ce_sessions.ceconversation')),
            ],
            options={
                'verbose_name': 'feedback',
                'verbose_name_plural': 'feedback',
                'db_table': 'ce_mcp_user_feedback',
                'indexes': [models.Index(models.F('conversation'), models.OrderBy(models.F('created_at'), descending=True), name='ce_feedback_conversation'), models.Index(condition=models.Q(('replaced_at', None)), fields=['created_at'], name='ce_feedback_created'), models.Index(condition=models.Q(('replaced_at', None)), fields=['table_name', 'row_pk'], name='ce_feedback_of_a_row')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('replaced_at', None)), fields=('turn_id', 'author'), name='ce_feedback_one_of_a_person')],
            },
        ),
        migrations.RunPython(let_them_rate, migrations.RunPython.noop),
    ]
