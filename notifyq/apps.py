"""App configuration."""

import logging

from django.apps import AppConfig
from django.conf import settings

log = logging.getLogger(__name__)


class NotifyqConfig(AppConfig):
    name = "notifyq"
    verbose_name = "Notify Queue"

    def ready(self) -> None:
        from notifyq import checks  # noqa: F401 (importing registers them, once the settings are there)

        if settings.METRICS_PROBLEM:
            log.warning("metrics_of_this_process_only", extra={"reason": settings.METRICS_PROBLEM})
