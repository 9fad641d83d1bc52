"""App configuration."""

from django.apps import AppConfig


class RatelimitsConfig(AppConfig):
    name = "ratelimits"
    verbose_name = "Rate limits"
    default_auto_field = "django.db.models.BigAutoField"
