"""Events turn over quickly: vacuum them early, and leave room for the next version of a row on its own page. And keys
that cascade in the database, so that retention may delete notifications without knowing of webhooks."""

from django.db import migrations

TUNE = """
ALTER TABLE webhooks_webhookevent SET (
    fillfactor = 80,
    autovacuum_vacuum_scale_factor = 0.01,
    autovacuum_vacuum_threshold = 1000,
    autovacuum_vacuum_cost_delay = 0,
    autovacuum_analyze_scale_factor = 0.02,
    autovacuum_analyze_threshold = 1000
);
ALTER TABLE webhooks_webhookendpoint SET (fillfactor = 70);
ALTER TABLE webhooks_webhookevent
    ADD CONSTRAINT webhook_event_of_notification FOREIGN KEY (notification_id)
        REFERENCES notifications_notification (id) ON DELETE CASCADE,
    ADD CONSTRAINT webhook_event_of_endpoint FOREIGN KEY (endpoint_id)
        REFERENCES webhooks_webhookendpoint (id) ON DELETE CASCADE;
ALTER TABLE webhooks_webhookattempt
    ADD CONSTRAINT webhook_attempt_of_event FOREIGN KEY (event_id)
        REFERENCES webhooks_webhookevent (id) ON DELETE CASCADE;
"""
RESET = """
ALTER TABLE webhooks_webhookattempt DROP CONSTRAINT webhook_attempt_of_event;
ALTER TABLE webhooks_webhookevent
    DROP CONSTRAINT webhook_event_of_endpoint,
    DROP CONSTRAINT webhook_event_of_notification,
    RESET (
        fillfactor,
        autovacuum_vacuum_scale_factor,
        autovacuum_vacuum_threshold,
        autovacuum_vacuum_cost_delay,
        autovacuum_analyze_scale_factor,
        autovacuum_analyze_threshold
    );
ALTER TABLE webhooks_webhookendpoint RESET (fillfactor);
"""


class Migration(migrations.Migration):
    dependencies = [("webhooks", "0001_create_webhooks")]

    operations = [migrations.RunSQL(TUNE, RESET)]
