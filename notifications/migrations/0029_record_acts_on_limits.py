"""The record of acts takes in what people do to the rules of the rate limits, with what a rule said before and says since."""

import notifications.models.control_act
from django.db import migrations, models

REFUSE = """
CREATE OR REPLACE FUNCTION notifications_controlact_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'what was done to {what} is not rewritten' USING ERRCODE = 'restrict_violation';
END $$;
"""
# Before this migration there is no place for acts on limits: taken back, it takes them along.
FORGET = """
ALTER TABLE notifications_controlact DISABLE TRIGGER controlact_unchanged;
DELETE FROM notifications_controlact WHERE control = 'LIMIT';
ALTER TABLE notifications_controlact ENABLE TRIGGER controlact_unchanged;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('notifications', '0028_resolve_many'),
    ]

    operations = [
        migrations.AlterModelOptions(
            name='controlact',
            options={'ordering': ['-id'], 'verbose_name': 'act on a breaker, pause or limit', 'verbose_name_plural': 'acts on breakers, pauses and limits'},
        ),
        migrations.RemoveConstraint(
            model_name='controlact',
            name='control_act_control',
        ),
        migrations.RemoveConstraint(
            model_name='controlact',
            name='control_act_action',
        ),
        migrations.RunSQL(
            REFUSE.format(what="breakers, pauses and limits"), FORGET + REFUSE.format(what="breakers and pauses")
        ),
        migrations.AddField(
            model_name='controlact',
            name='after',
            field=models.CharField(blank=True, db_default='', default='', help_text='What it says since; empty: nothing.', max_length=60),
        ),
        migrations.AddField(
            model_name='controlact',
            name='before',
            field=models.CharField(blank=True, db_default='', default='', help_text='What a limit said until then; empty: nothing.', max_length=60),
        ),
        migrations.AlterField(
            model_name='controlact',
            name='action',
            field=models.CharField(choices=[('TRIP', 'TRIP'), ('RESET', 'RESET'), ('PAUSE', 'PAUSE'), ('RESUME', 'RESUME'), ('ADD', 'ADD'), ('CHANGE', 'CHANGE'), ('REMOVE', 'REMOVE')], max_length=8),
        ),
        migrations.AlterField(
            model_name='controlact',
            name='control',
            field=models.CharField(choices=[('BREAKER', 'BREAKER'), ('PAUSE', 'PAUSE'), ('LIMIT', 'LIMIT')], max_length=8),
        ),
        migrations.AlterField(
            model_name='controlact',
            name='name',
            field=models.CharField(help_text='Which one, such as SMS twilio, CHANNEL SMS, or SMS, all clients together.', max_length=120),
        ),
        migrations.AddConstraint(
            model_name='controlact',
            constraint=models.CheckConstraint(condition=models.Q(('control__in', [notifications.models.control_act.Control['BREAKER'], notifications.models.control_act.Control['PAUSE'], notifications.models.control_act.Control['LIMIT']])), name='control_act_control'),
        ),
        migrations.AddConstraint(
            model_name='controlact',
            constraint=models.CheckConstraint(condition=models.Q(('action__in', [notifications.models.control_act.ControlAction['TRIP'], notifications.models.control_act.ControlAction['RESET'], notifications.models.control_act.ControlAction['PAUSE'], notifications.models.control_act.ControlAction['RESUME'], notifications.models.control_act.ControlAction['ADD'], notifications.models.control_act.ControlAction['CHANGE'], notifications.models.control_act.ControlAction['REMOVE']])), name='control_act_action'),
        ),
    ]
