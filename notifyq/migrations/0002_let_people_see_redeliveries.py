from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from notifyq.role_migrations import provide_for


def give(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    provide_for(apps, schema_editor, "webhooks")


class Migration(migrations.Migration):
    """Who may see webhook events may see who had them delivered again."""

    dependencies = [("notifyq", "0001_make_roles"), ("webhooks", "0004_record_redeliveries")]

    operations = [migrations.RunPython(give, migrations.RunPython.noop)]
