"""The record of what people did to breakers and pauses: no row of it is changed, and none goes."""

import django.db.models.functions.datetime
import notifications.models.control_act
from django.db import migrations, models

KEEP = """
CREATE FUNCTION notifications_controlact_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'what was done to breakers and pauses is not rewritten' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER controlact_unchanged BEFORE UPDATE OR DELETE ON notifications_controlact
    FOR EACH ROW EXECUTE FUNCTION notifications_controlact_refuse();
"""
LET_GO = """
DROP TRIGGER controlact_unchanged ON notifications_controlact;
DROP FUNCTION notifications_controlact_refuse();
"""


class Migration(migrations.Migration):

    dependencies = [
        ('notifications', '0025_index_trouble'),
    ]

    operations = [
        migrations.AlterModelOptions(
            name='providerhealth',
            options={'ordering': ['channel', 'provider'], 'verbose_name': 'breaker', 'verbose_name_plural': 'providers'},
        ),
        migrations.AlterField(
            model_name='providerhealth',
            name='failing_since',
            field=models.DateTimeField(help_text='Since when it is out of use without a break.', null=True),
        ),
        migrations.CreateModel(
            name='ControlAct',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('control', models.CharField(choices=[('BREAKER', 'BREAKER'), ('PAUSE', 'PAUSE')], max_length=8)),
                ('name', models.CharField(help_text='Which one, such as SMS twilio, or CHANNEL SMS.', max_length=120)),
                ('action', models.CharField(choices=[('TRIP', 'TRIP'), ('RESET', 'RESET'), ('PAUSE', 'PAUSE'), ('RESUME', 'RESUME')], max_length=8)),
                ('actor', models.CharField(help_text="The client with the beginning of its key, the user's name, or who ran the command.", max_length=150)),
                ('reason', models.CharField(blank=True, default='', max_length=255)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), editable=False)),
            ],
            options={
                'verbose_name': 'act on a breaker or pause',
                'verbose_name_plural': 'acts on breakers and pauses',
                'ordering': ['-id'],
                'indexes': [models.Index(fields=['control', 'name', '-id'], name='control_act_of_one')],
                'constraints': [models.CheckConstraint(condition=models.Q(('control__in', [notifications.models.control_act.Control['BREAKER'], notifications.models.control_act.Control['PAUSE']])), name='control_act_control'), models.CheckConstraint(condition=models.Q(('action__in', [notifications.models.control_act.ControlAction['TRIP'], notifications.models.control_act.ControlAction['RESET'], notifications.models.control_act.ControlAction['PAUSE'], notifications.models.control_act.ControlAction['RESUME']])), name='control_act_action')],
            },
        ),
        migrations.RunSQL(KEEP, LET_GO),
    ]
