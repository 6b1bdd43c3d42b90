from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('audit', '0007_access_log'),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name='ceaudit',
            name='ce_audit_turn',
        ),
        migrations.AddIndex(
            model_name='ceaudit',
            index=models.Index(fields=['conversation_id', 'turn_no'], name='ce_audit_turn'),
        ),
    ]
