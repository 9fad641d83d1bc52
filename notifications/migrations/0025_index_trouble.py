"""What was reported as trouble before there was a column for it is filled in, in small batches, and then indexed."""

from typing import ClassVar

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models

BATCH = 5_000
TROUBLE = ["DELAYED", "REJECTED", "UNDELIVERED", "BOUNCED", "COMPLAINED"]

# By the receipts, of which it all came: the table of notifications is not walked.
FILL = """
WITH batch AS MATERIALIZED (
    SELECT id, notification_id, status FROM notifications_receipt WHERE id > %s ORDER BY id LIMIT %s
), filled AS (
    UPDATE notifications_notification n SET reported_trouble = n.delivery_status
    FROM (SELECT DISTINCT notification_id FROM batch WHERE status = ANY (%s)) AS b
    WHERE n.id = b.notification_id AND n.delivery_status = ANY (%s) AND n.reported_trouble = ''
)
SELECT max(id) FROM batch
"""


def fill_existing(apps, schema_editor):
    last = 0
    with schema_editor.connection.cursor() as cursor:
        while last is not None:
            cursor.execute(FILL, [last, BATCH, TROUBLE, TROUBLE])
            last = cursor.fetchone()[0]


class Migration(migrations.Migration):
    atomic = False  # the table may be large, and stays open for writing

    dependencies: ClassVar = [("notifications", "0024_credit_receipts")]

    operations: ClassVar = [
        migrations.RunPython(fill_existing, migrations.RunPython.noop),
        AddIndexConcurrently(
            model_name="notification",
            index=models.Index(
                "reported_trouble",
                "id",
                "client",
                condition=~models.Q(reported_trouble=""),
                name="notification_trouble",
            ),
        ),
    ]
