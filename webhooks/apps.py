"""App configuration."""

from django.apps import AppConfig


class WebhooksConfig(AppConfig):
    name = "webhooks"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from notifications import panels
        from notifications.queue import on_outcome
        from webhooks.api import panel
        from webhooks.queue import record_outcomes

        on_outcome(record_outcomes)
        panels.add(panel.of_notification)
