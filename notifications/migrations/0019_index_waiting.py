from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models

import notifications.status


class Migration(migrations.Migration):
    """Apart from the table, so that what sends goes on while a big queue gets its index."""

    atomic = False
    dependencies = [("notifications", "0018_act_on_many")]

    operations = [
        AddIndexConcurrently(
            model_name="notification",
            index=models.Index(
                models.F("id"), condition=models.Q(("status", notifications.status.Status["PENDING"])), name="notification_waiting"
            ),
        ),
    ]
