from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from notifyq.role_migrations import provide_for


def give(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    provide_for(apps, schema_editor, "notifications")


class Migration(migrations.Migration):
    """Who may see breakers and pauses may see what people did to them."""

    dependencies = [("notifyq", "0002_let_people_see_redeliveries"), ("notifications", "0026_record_acts_on_controls")]

    operations = [migrations.RunPython(give, migrations.RunPython.noop)]
