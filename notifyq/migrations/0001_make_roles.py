from typing import Any

from django.apps.registry import Apps
from django.contrib.auth.management import create_permissions
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from notifyq import roles


def make_roles(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    for label in ("auth", *roles.APPS):
        app: Any = apps.get_app_config(label)
        # Django makes them when all migrations are over, and does nothing for an app without models.
        app.models_module = True
        create_permissions(app, verbosity=0, apps=apps, using=schema_editor.connection.alias)
        app.models_module = None
    roles.provide(apps.get_model("auth", "Group"), apps.get_model("auth", "Permission"))


def remove_roles(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    apps.get_model("auth", "Group").objects.filter(name__in=list(roles.Role)).delete()


class Migration(migrations.Migration):
    """The groups of the console. Whoever adds a permission adds a migration that calls `roles.provide` again."""

    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
        ("notifications", "0022_remove_old_undelivered_index"),
        ("ratelimits", "0002_meter_requests"),
        ("webhooks", "0003_let_people_operate"),
    ]

    operations = [migrations.RunPython(make_roles, remove_roles)]
