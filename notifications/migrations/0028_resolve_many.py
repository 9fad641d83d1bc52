from __future__ import annotations

from django.db import migrations, models

import notifications.models.bulk_act

_ACTIONS = ("RETRY", "CANCEL", "RESCHEDULE", "RESOLVE_SENT", "RESOLVE_FAILED", "REDELIVER")


class Migration(migrations.Migration):
    """Both ways of resolving can be done to many at once. The table holds one row for each act of a person."""

    dependencies = [("notifications", "0027_tell_busy_from_buffered")]

    operations = [
        migrations.RemoveConstraint(model_name="bulkact", name="bulk_act_action"),
        migrations.AlterField(
            model_name="bulkact",
            name="action",
            field=models.CharField(choices=[(name, name) for name in _ACTIONS], max_length=16),
        ),
        migrations.AddConstraint(
            model_name="bulkact",
            constraint=models.CheckConstraint(
                condition=models.Q(action__in=[notifications.models.bulk_act.BulkAction[name] for name in _ACTIONS]),
                name="bulk_act_action",
            ),
        ),
    ]
