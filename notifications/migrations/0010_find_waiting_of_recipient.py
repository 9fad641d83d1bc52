"""What could be claimed of one recipient, so that it is parked many at a time when its limit is full."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False  # an index is built beside running workers only outside a transaction

    dependencies = [("notifications", "0009_order_by_rank")]

    operations = [
        AddIndexConcurrently(
            model_name="notification",
            index=models.Index(
                models.F("client"),
                models.F("recipient"),
                models.F("due_at"),
                condition=models.Q(("status", "PENDING"), ("parked_by__isnull", True), ("suspect", False)),
                name="notification_ready",
            ),
        ),
    ]
