from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from notifyq import roles
from notifyq.role_migrations import provide_for


def make_roles(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    provide_for(apps, schema_editor, "auth", *roles.APPS)


def remove_roles(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    apps.get_model("auth", "Group").objects.filter(name__in=list(roles.Role)).delete()


class Migration(migrations.Migration):
    """The groups of the console. Whoever adds a permission adds a migration that calls `provide_for` again."""

    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
        ("notifications", "0022_remove_old_undelivered_index"),
        ("ratelimits", "0002_meter_requests"),
        ("webhooks", "0003_let_people_operate"),
    ]

    operations = [migrations.RunPython(make_roles, remove_roles)]
