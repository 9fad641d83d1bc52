"""The last step: the new index is there."""

from typing import ClassVar

from django.contrib.postgres.operations import RemoveIndexConcurrently
from django.db import migrations


class Migration(migrations.Migration):
    atomic = False

    dependencies: ClassVar = [("notifications", "0021_carry_why_undelivered")]

    operations: ClassVar = [
        RemoveIndexConcurrently(model_name="notification", name="notification_undelivered_old"),
    ]
