"""What ended undelivered is grouped and narrowed down from its index alone."""

from typing import ClassVar

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models

SELDOM = ("RECONCILING", "FAILED", "DEAD_LETTERED", "CANCELLED", "EXPIRED")


class Migration(migrations.Migration):
    atomic = False  # the table may be large, and stays open for writing

    dependencies: ClassVar = [("notifications", "0020_rename_undelivered_index")]

    operations: ClassVar = [
        AddIndexConcurrently(
            model_name="notification",
            index=models.Index(
                fields=["status", "finished_at", "id"],
                include=("channel", "client", "last_used_provider", "last_error_code", "unconfirmed_provider"),
                condition=models.Q(("status__in", SELDOM)),
                name="notification_undelivered",
            ),
        ),
    ]
