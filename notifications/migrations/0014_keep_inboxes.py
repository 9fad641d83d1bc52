"""Inboxes, and their channel. Not in one transaction: the new CHECK on the queue is validated while everybody works."""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
from django.contrib.postgres.operations import AddConstraintNotValid, ValidateConstraint
from django.db import migrations, models

import notifyq.runtime.ids

# Vacuumed early, since a count of what is unread reads the index alone only on pages that vacuum has seen. The key
# cascades in the database, so that retention may delete notifications without knowing of inboxes.
TUNE = """
ALTER TABLE notifications_inboxentry SET (
    autovacuum_vacuum_insert_scale_factor = 0.01,
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_analyze_scale_factor = 0.02
);
ALTER TABLE notifications_inboxentry
    ADD CONSTRAINT inbox_entry_of_notification FOREIGN KEY (notification_id)
        REFERENCES notifications_notification (id) ON DELETE CASCADE;
"""
RESET = """
ALTER TABLE notifications_inboxentry DROP CONSTRAINT inbox_entry_of_notification;
ALTER TABLE notifications_inboxentry RESET (
    autovacuum_vacuum_insert_scale_factor,
    autovacuum_vacuum_scale_factor,
    autovacuum_analyze_scale_factor
);
"""


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("notifications", "0013_reconcile_unconfirmed")]

    operations = [
        migrations.RemoveConstraint(
            model_name='notification',
            name='notification_channel',
        ),
        AddConstraintNotValid(
            model_name='notification',
            constraint=models.CheckConstraint(condition=models.Q(('channel__in', ['EMAIL', 'SMS', 'PUSH', 'IN_APP'])), name='notification_channel'),
        ),
        ValidateConstraint(model_name='notification', name='notification_channel'),
        migrations.AlterField(
            model_name='notification',
            name='channel',
            field=models.CharField(choices=[('EMAIL', 'EMAIL'), ('SMS', 'SMS'), ('PUSH', 'PUSH'), ('IN_APP', 'IN_APP')], max_length=8),
        ),
        migrations.AlterField(
            model_name='apikey',
            name='scopes',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.CharField(choices=[('send', "send: create, read, cancel the client's own"), ('read', "read: read the client's own"), ('inbox', "inbox: show the client's users their inboxes, nothing else"), ('operate', 'operate: everything, for any client')], max_length=16), size=None),
        ),
        migrations.CreateModel(
            name='InboxEntry',
            fields=[
                ('id', models.UUIDField(default=notifyq.runtime.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ('notification', models.OneToOneField(db_constraint=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='inbox_entry', to='notifications.notification')),
                ('client', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='notifications.client')),
                ('user_id', models.CharField(help_text="The notification's recipient.", max_length=255)),
                ('subject', models.CharField(blank=True, default='', max_length=255)),
                ('body', models.TextField()),
                ('data', models.JSONField(blank=True, default=dict)),
                ('collapse_key', models.CharField(blank=True, default='', max_length=64)),
                ('send_at', models.DateTimeField(help_text="The notification's; of two with one collapse key the later is the newer.")),
                ('expires_at', models.DateTimeField(blank=True, help_text="The notification's; an entry stays beyond it.", null=True)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
                ('read_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'verbose_name_plural': 'inbox entries',
                'ordering': ['-id'],
                'indexes': [
                    models.Index(models.F('client'), models.F('user_id'), models.F('id'), name='inbox_user'),
                    models.Index(models.F('client'), models.F('user_id'), models.F('id'), condition=models.Q(('read_at__isnull', True)), name='inbox_unread'),
                    models.Index(models.F('client'), models.F('user_id'), models.F('collapse_key'), condition=models.Q(('collapse_key', ''), _negated=True), name='inbox_collapse'),
                ],
            },
        ),
        migrations.RunSQL(TUNE, RESET),
    ]
