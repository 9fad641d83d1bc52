from typing import Any

from django.apps.registry import Apps
from django.contrib.auth.management import create_permissions
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from notifyq import roles


def give(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    app: Any = apps.get_app_config("webhooks")
    # Django makes them when all migrations are over, and does nothing for an app without models.
    app.models_module = True
    create_permissions(app, verbosity=0, apps=apps, using=schema_editor.connection.alias)
    app.models_module = None
    roles.provide(apps.get_model("auth", "Group"), apps.get_model("auth", "Permission"))


class Migration(migrations.Migration):
    """Who may see webhook events may see who had them delivered again."""

    dependencies = [("notifyq", "0001_make_roles"), ("webhooks", "0004_record_redeliveries")]

    operations = [migrations.RunPython(give, migrations.RunPython.noop)]
