"""The record of what operators did: no row of it is changed, and none goes before its notification does."""

from django.db import migrations

KEEP = """
CREATE FUNCTION notifications_operatoraction_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'what an operator did is not rewritten' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER operatoraction_unchanged BEFORE UPDATE ON notifications_operatoraction
    FOR EACH ROW EXECUTE FUNCTION notifications_operatoraction_refuse_change();

CREATE FUNCTION notifications_operatoraction_refuse_delete() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM notifications_notification WHERE id = OLD.notification_id) THEN
        RAISE EXCEPTION 'what an operator did goes only with its notification' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER operatoraction_kept AFTER DELETE ON notifications_operatoraction
    DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION notifications_operatoraction_refuse_delete();
"""
LET_GO = """
DROP TRIGGER operatoraction_kept ON notifications_operatoraction;
DROP FUNCTION notifications_operatoraction_refuse_delete();
DROP TRIGGER operatoraction_unchanged ON notifications_operatoraction;
DROP FUNCTION notifications_operatoraction_refuse_change();
"""


class Migration(migrations.Migration):
    dependencies = [("notifications", "0007_record_operator_actions")]

    operations = [migrations.RunSQL(KEEP, LET_GO)]
