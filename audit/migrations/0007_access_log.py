"""Who read what of the record: configuration administrators see it."""

import django.utils.timezone
from django.apps import apps as global_apps
from django.contrib.auth.management import create_permissions
from django.db import migrations, models


def let_them_read(apps, schema_editor):
    alias = schema_editor.connection.alias
    # Permissions are usually made when all migrations are done; these are needed now.
    create_permissions(global_apps.get_app_config("audit"), verbosity=0, using=alias, apps=apps)
    permissions = apps.get_model("auth", "Permission").objects.using(alias)
    group, _ = apps.get_model("auth", "Group").objects.using(alias).get_or_create(name="config_admin")
    group.permissions.add(
        *permissions.filter(content_type__app_label="audit", codename="view_ceaccesslog")
    )


class Migration(migrations.Migration):

    dependencies = [
        ('audit', '0006_one_index_less'),
    ]

    operations = [
        migrations.CreateModel(
            name='CeAccessLog',
            fields=[
                ('access_id', models.BigAutoField(primary_key=True, serialize=False, verbose_name='id')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, verbose_name='time')),
                ('reader', models.TextField(help_text='The name of the user at that time.', verbose_name='user')),
                ('kind', models.TextField(help_text='What the user opened.', verbose_name='action')),
                ('conversation_id', models.UUIDField(help_text='Empty for a search.', null=True, verbose_name='conversation')),
                ('turn_no', models.IntegerField(help_text='Empty for more than one turn.', null=True, verbose_name='turn')),
                ('search', models.TextField(blank=True, default='', help_text='The searched text.')),
                ('address', models.TextField(blank=True, default='', help_text='Network address of the request.')),
                ('path', models.TextField(blank=True, default='', help_text='Page or endpoint, without its parameters.')),
            ],
            options={
                'verbose_name': 'access log entry',
                'verbose_name_plural': 'access log entries',
                'db_table': 'ce_access_log',
                'indexes': [models.Index(models.F('conversation_id'), models.OrderBy(models.F('access_id'), descending=True), name='ce_access_conversation'), models.Index(models.F('reader'), models.OrderBy(models.F('access_id'), descending=True), name='ce_access_reader')],
            },
        ),
        migrations.RunPython(let_them_read, migrations.RunPython.noop),
    ]
