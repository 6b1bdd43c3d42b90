"""Threads are found by who writes in them."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('ce_sessions', '0004_jobs'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='cethread',
            index=models.Index(fields=['remote_jid'], name='ce_thread_participant'),
        ),
    ]
