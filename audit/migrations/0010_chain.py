"""The chain over the record; turns of the time before it have no seals."""

import django.utils.timezone
from django.db import migrations, models


def begin(apps, schema_editor):
    cuts = apps.get_model("audit", "CeChainCut").objects.using(schema_editor.connection.alias)
    cuts.create(kind="BEGIN", before=django.utils.timezone.now())


class Migration(migrations.Migration):

    dependencies = [
        ('audit', '0009_finding'),
    ]

    operations = [
        migrations.CreateModel(
            name='CeChainBase',
            fields=[
                ('conversation_id', models.UUIDField(primary_key=True, serialize=False, verbose_name='conversation')),
                ('turn_no', models.IntegerField(help_text='The last removed turn.', verbose_name='turn')),
                ('hash', models.BinaryField(help_text='The hash of its seal.')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, verbose_name='created')),
            ],
            options={
                'verbose_name': 'beginning of a chain',
                'verbose_name_plural': 'beginnings of chains',
                'db_table': 'ce_chain_base',
            },
        ),
        migrations.CreateModel(
            name='CeChainCut',
            fields=[
                ('cut_id', models.BigAutoField(primary_key=True, serialize=False)),
                ('kind', models.TextField(help_text='The kind of removed data.')),
                ('before', models.DateTimeField(help_text='Older data was removed.')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, verbose_name='created')),
            ],
            options={
                'verbose_name': 'cut of the record',
                'verbose_name_plural': 'cuts of the record',
                'db_table': 'ce_chain_cut',
            },
        ),
        migrations.CreateModel(
            name='CeChainLink',
            fields=[
                ('link_id', models.BigAutoField(primary_key=True, serialize=False)),
                ('conversation_id', models.UUIDField(verbose_name='conversation')),
                ('number', models.IntegerField(help_text='1, 2, 3 … within the conversation.')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, verbose_name='created')),
                ('turn_id', models.UUIDField(help_text='The turn to which something was added. Empty outside of turns.', null=True)),
                ('turn_no', models.IntegerField(help_text='The number of this turn.', null=True, verbose_name='turn')),
                ('first_seq', models.IntegerField(help_text='The first sealed event. The seal contains the last one.', verbose_name='first event')),
                ('chain', models.BinaryField(help_text='The seal.')),
            ],
            options={
                'verbose_name': 'seal of additions',
                'verbose_name_plural': 'seals of additions',
                'db_table': 'ce_chain_link',
                'constraints': [models.UniqueConstraint(fields=('conversation_id', 'number'), name='ce_chain_link_number')],
            },
        ),
        migrations.CreateModel(
            name='CeErasure',
            fields=[
                ('erasure_id', models.BigAutoField(primary_key=True, serialize=False, verbose_name='id')),
                ('conversation_id', models.UUIDField(verbose_name='conversation')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, verbose_name='time')),
                ('by', models.TextField(help_text='Who erased it.')),
                ('reason', models.TextField(help_text='Why.')),
                ('last_turn_no', models.IntegerField(help_text='Turns up to this one were erased.', verbose_name='last turn')),
                ('last_link', models.IntegerField(help_text='Additions up to this one were erased.', verbose_name='last addition')),
                ('counts', models.JSONField(default=dict, help_text='Number of erased rows by table.', verbose_name='erased rows')),
                ('proof', models.TextField(help_text='That this was written by the product.')),
            ],
            options={
                'verbose_name': 'erasure',
                'db_table': 'ce_erasure',
                'indexes': [models.Index(fields=['conversation_id'], name='ce_erasure_conversation')],
            },
        ),
        migrations.RunPython(begin, migrations.RunPython.noop),
    ]
