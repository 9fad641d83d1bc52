from typing import Any

from django.apps.registry import Apps
from django.contrib.auth.management import create_permissions
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from notifyq import roles


def give(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    app: Any = apps.get_app_config("notifications")
    # Django makes them when all migrations are over, and does nothing for an app without models.
    app.models_module = True
    create_permissions(app, verbosity=0, apps=apps, using=schema_editor.connection.alias)
    app.models_module = None
    roles.provide(apps.get_model("auth", "Group"), apps.get_model("auth", "Permission"))


class Migration(migrations.Migration):
    """Who may see breakers and pauses may see what people did to them."""

    dependencies = [("notifyq", "0002_let_people_see_redeliveries"), ("notifications", "0026_record_acts_on_controls")]

    operations = [migrations.RunPython(give, migrations.RunPython.noop)]
