"""What ended undelivered is grouped and narrowed down from its index alone. One of the two is there at any time."""

from typing import ClassVar

from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import migrations, models

SELDOM = ("RECONCILING", "FAILED", "DEAD_LETTERED", "CANCELLED", "EXPIRED")


class Migration(migrations.Migration):
    atomic = False  # the table may be large, and stays open for writing

    dependencies: ClassVar = [("notifications", "0017_tally_outcomes")]

    operations: ClassVar = [
        migrations.RenameIndex(
            model_name="notification", old_name="notification_undelivered", new_name="notification_undelivered_old"
        ),
        AddIndexConcurrently(
            model_name="notification",
            index=models.Index(
                fields=["status", "finished_at", "id"],
                include=("channel", "client", "last_used_provider", "last_error_code", "unconfirmed_provider"),
                condition=models.Q(("status__in", SELDOM)),
                name="notification_undelivered",
            ),
        ),
        RemoveIndexConcurrently(model_name="notification", name="notification_undelivered_old"),
    ]
