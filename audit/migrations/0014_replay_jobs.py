"""Replays that are asked for by the API."""

import django.db.models.deletion
import uuid
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('audit', '0013_erasing_rights'),
        ('ce_sessions', '0009_chain'),
    ]

    operations = [
        migrations.CreateModel(
            name='CeReplayJob',
            fields=[
                ('replay_id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False, verbose_name='id')),
                ('workspace_id', models.TextField(help_text='Only API keys of this workspace may read it.', verbose_name='workspace')),
                ('owner', models.TextField(help_text='Who started it: key: and the id of an API key, or user: and the name of a user.')),
                ('mode', models.TextField(choices=[('RECORDED', 'On the release of each turn, where nothing may differ'), ('WHAT_IF', 'On another release, with the recorded answers')], help_text='The release of the replay.')),
                ('asked', models.JSONField(help_text='The requested turns, release and expectations.', verbose_name='request')),
                ('status', models.TextField(choices=[('PENDING', 'Waiting'), ('RUNNING', 'Running'), ('DONE', 'Done'), ('FAILED', 'Failed'), ('LOST', 'Process lost')], default='PENDING', help_text='The progress.')),
                ('result', models.JSONField(help_text='Turns, failures and differences. Empty until it is finished.', null=True)),
                ('error', models.TextField(blank=True, default='', help_text='Why there is no result.')),
                ('created_at', models.DateTimeField(help_text='When it was requested.', verbose_name='created')),
                ('started_at', models.DateTimeField(help_text='When it started.', null=True, verbose_name='started')),
                ('finished_at', models.DateTimeField(help_text='When it finished.', null=True, verbose_name='finished')),
                ('lease_expires_at', models.DateTimeField(help_text='If the process does not respond by then, the job is lost.', verbose_name='lease expires')),
                ('conversation', models.ForeignKey(help_text='The conversation to replay.', on_delete=django.db.models.deletion.CASCADE, related_name='+', to='ce_sessions.ceconversation')),
            ],
            options={
                'verbose_name': 'replay',
                'db_table': 'ce_replay_job',
                'indexes': [models.Index(fields=['created_at'], name='ce_replay_created')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('status__in', ['PENDING', 'RUNNING'])), fields=('owner',), name='ce_replay_one_of_an_owner')],
            },
        ),
    ]
