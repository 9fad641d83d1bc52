from typing import ClassVar

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies: ClassVar = [("notifications", "0030_index_waiting_reason")]

    operations: ClassVar = [
        migrations.AddField(
            model_name="apikey",
            name="form_id",
            field=models.UUIDField(
                null=True,
                unique=True,
                editable=False,
                help_text="Of the console's form that made it: one key for each.",
            ),
        ),
    ]
