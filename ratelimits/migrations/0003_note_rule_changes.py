import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('ratelimits', '0002_meter_requests'),
    ]

    operations = [
        migrations.AddField(
            model_name='ratelimitrule',
            name='updated_at',
            field=models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False),
        ),
    ]
