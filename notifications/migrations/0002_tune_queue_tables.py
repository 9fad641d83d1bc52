"""The queue table turns over quickly: vacuum it early, and leave room for the next version of a row on its own page."""

from django.db import migrations

TUNE = """
ALTER TABLE notifications_notification SET (
    fillfactor = 70,
    autovacuum_vacuum_scale_factor = 0.01,
    autovacuum_vacuum_threshold = 1000,
    autovacuum_vacuum_cost_delay = 0,
    autovacuum_analyze_scale_factor = 0.02,
    autovacuum_analyze_threshold = 1000
);
ALTER TABLE notifications_worker SET (fillfactor = 50);
"""
RESET = """
ALTER TABLE notifications_notification RESET (
    fillfactor,
    autovacuum_vacuum_scale_factor,
    autovacuum_vacuum_threshold,
    autovacuum_vacuum_cost_delay,
    autovacuum_analyze_scale_factor,
    autovacuum_analyze_threshold
);
ALTER TABLE notifications_worker RESET (fillfactor);
"""


class Migration(migrations.Migration):
    dependencies = [("notifications", "0001_create_queue")]

    operations = [migrations.RunSQL(TUNE, RESET)]
