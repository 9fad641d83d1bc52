"""The first of three steps, each of which can be repeated by itself: the old index steps aside, and goes on being read."""

from typing import ClassVar

from django.db import migrations


class Migration(migrations.Migration):
    dependencies: ClassVar = [("notifications", "0019_index_waiting")]

    operations: ClassVar = [
        migrations.RenameIndex(
            model_name="notification", old_name="notification_undelivered", new_name="notification_undelivered_old"
        ),
    ]
