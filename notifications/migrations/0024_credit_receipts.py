"""Receipts know the vendor's own word and whether they count; bad news stands in a column of its own. What is read in
the order of an instant has an order also within it.
"""

from typing import ClassVar

from django.db import migrations, models
from django.db.models.functions import Coalesce


class Migration(migrations.Migration):
    dependencies: ClassVar = [("notifications", "0023_act_on_many_events")]

    operations: ClassVar = [
        migrations.AlterModelOptions(
            name="apikey", options={"ordering": ["-created_at", "-id"], "verbose_name": "API key"}
        ),
        migrations.AlterModelOptions(
            name="attempt", options={"ordering": ["finished_at", "cycle", "number", "hop", "id"]}
        ),
        migrations.AlterModelOptions(name="pause", options={"ordering": ["created_at", "id"]}),
        migrations.AlterModelOptions(
            name="receipt", options={"ordering": [Coalesce("at", "received_at"), "received_at", "id"]}
        ),
        migrations.AlterModelOptions(name="worker", options={"ordering": ["-beat_at", "id"]}),
        migrations.AddField(
            model_name="notification",
            name="reported_trouble",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                help_text="The same while it is no good news. It has an index, so that other reports need none.",
                max_length=16,
            ),
        ),
        migrations.AddField(
            model_name="receipt",
            name="credited",
            field=models.BooleanField(
                db_default=True,
                default=True,
                help_text="Whether its notification may have been sent through this provider.",
            ),
        ),
        migrations.AddField(
            model_name="receipt",
            name="word",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                help_text="The provider's own for the status.",
                max_length=32,
            ),
        ),
    ]
