from typing import ClassVar

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False  # the table may be large, and stays open for writing

    dependencies: ClassVar = [("notifications", "0029_record_acts_on_limits")]

    operations: ClassVar = [
        AddIndexConcurrently(
            model_name="notification",
            index=models.Index(
                "waiting_reason", "id", condition=~models.Q(waiting_reason=""), name="notification_reason"
            ),
        ),
    ]
