"""App configuration."""

from django.apps import AppConfig


class NotifyqConfig(AppConfig):
    name = "notifyq"
    verbose_name = "Notify Queue"
