from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("notifications", "0026_record_acts_on_controls"),
    ]

    operations = [
        migrations.AddField(
            model_name="worker",
            name="buffered_count",
            field=models.PositiveIntegerField(
                db_default=0, default=0, help_text="Those of them that waited for a seat."
            ),
        ),
        migrations.AddField(
            model_name="worker",
            name="busy_since",
            field=models.DateTimeField(
                blank=True, help_text="Since when it has held something at every beat.", null=True
            ),
        ),
    ]
