"""For receipts that do not carry our key: the message that a provider's id belongs to."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False  # the table may be large, and stays open for writing

    dependencies = [("notifications", "0014_keep_inboxes")]

    operations = [
        AddIndexConcurrently(
            model_name="notification",
            index=models.Index(
                models.F("provider_message_id"),
                condition=models.Q(("provider_message_id", ""), _negated=True),
                name="notification_message_id",
            ),
        ),
    ]
