"""App configuration."""

from django.apps import AppConfig


class WebhooksConfig(AppConfig):
    name = "webhooks"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from notifications import panels
        from notifications.models import BulkAction
        from notifications.queue import add_walk, on_outcome
        from webhooks.api import panel
        from webhooks.queue import record_outcomes, walk

        on_outcome(record_outcomes)
        add_walk(BulkAction.REDELIVER, walk)
        panels.add(panel.of_notification)
