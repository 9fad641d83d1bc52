"""What migrations of the roles have in common."""

from __future__ import annotations

from typing import Any

from django.apps.registry import Apps
from django.contrib.auth.management import create_permissions
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from notifyq import roles


def provide_for(apps: Apps, schema_editor: BaseDatabaseSchemaEditor, *labels: str) -> None:
    """For a migration that comes with a new permission: make those of these apps, and `roles.provide`."""
    for label in labels:
        app: Any = apps.get_app_config(label)
        # Django makes them when all migrations are over, and does nothing for an app without models.
        app.models_module = True
        create_permissions(app, verbosity=0, apps=apps, using=schema_editor.connection.alias)
        app.models_module = None
    roles.provide(apps.get_model("auth", "Group"), apps.get_model("auth", "Permission"))
