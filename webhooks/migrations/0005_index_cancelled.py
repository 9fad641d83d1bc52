from typing import ClassVar

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False  # the table may be large, and stays open for writing

    dependencies: ClassVar = [("webhooks", "0004_record_redeliveries")]

    operations: ClassVar = [
        AddIndexConcurrently(
            model_name="webhookevent",
            index=models.Index(
                "endpoint", "id", condition=models.Q(status="CANCELLED"), name="webhook_event_cancelled"
            ),
        ),
    ]
