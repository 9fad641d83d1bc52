"""A number for each content, given by the database: some vendors take no longer key. Neither locks the table for long:
the column comes empty, new rows are numbered from then on, and those that are there already in small batches.
"""

from django.db import migrations, models

BATCH = 5_000

# It begins at random, so that two installations with one account at a vendor hardly ever use the same number within
# the hours that the vendor remembers it.
CREATE = """
DO $$ BEGIN
    EXECUTE format(
        'CREATE SEQUENCE IF NOT EXISTS notifications_content_serial_seq AS integer START WITH %s CYCLE',
        1 + floor(random() * 2147483647)::bigint
    );
END $$;
ALTER TABLE notifications_content ADD COLUMN IF NOT EXISTS serial integer;
ALTER TABLE notifications_content ALTER COLUMN serial SET DEFAULT nextval('notifications_content_serial_seq');
ALTER SEQUENCE notifications_content_serial_seq OWNED BY notifications_content.serial;
"""
DROP = "ALTER TABLE notifications_content DROP COLUMN serial;"  # and with it the sequence that it owns

FILL = """
WITH batch AS MATERIALIZED (
    SELECT notification_id FROM notifications_content
    WHERE notification_id > %s ORDER BY notification_id LIMIT %s
), numbered AS (
    UPDATE notifications_content c SET serial = DEFAULT
    FROM batch b WHERE c.notification_id = b.notification_id AND c.serial IS NULL
)
SELECT max(notification_id::text)::uuid FROM batch
"""

# The table is scanned by the second of these, which keeps nobody out; the third then need not look again.
DEMAND = [
    "ALTER TABLE notifications_content DROP CONSTRAINT IF EXISTS content_serial_given, "
    "ADD CONSTRAINT content_serial_given CHECK (serial IS NOT NULL) NOT VALID",
    "ALTER TABLE notifications_content VALIDATE CONSTRAINT content_serial_given",
    "ALTER TABLE notifications_content ALTER COLUMN serial SET NOT NULL",
    "ALTER TABLE notifications_content DROP CONSTRAINT content_serial_given",
]


def number_existing(apps, schema_editor):
    last = "00000000-0000-0000-0000-000000000000"
    with schema_editor.connection.cursor() as cursor:
        while last is not None:
            cursor.execute(FILL, [last, BATCH])
            last = cursor.fetchone()[0]


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ("notifications", "0010_find_waiting_of_recipient"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunSQL(CREATE, DROP)],
            state_operations=[
                migrations.AddField(
                    model_name="content",
                    name="serial",
                    field=models.IntegerField(
                        db_default=models.Func(
                            models.Value("notifications_content_serial_seq"), function="nextval"
                        ),
                        editable=False,
                        help_text="Unique until the sequence has gone once round.",
                    ),
                ),
            ],
        ),
        migrations.RunPython(number_existing, migrations.RunPython.noop),
        *(migrations.RunSQL(statement, migrations.RunSQL.noop) for statement in DEMAND),
    ]
