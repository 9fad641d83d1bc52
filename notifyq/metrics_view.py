"""`/metrics`: what all processes have counted, and what the database says about the queue."""

from __future__ import annotations

import hmac
import json
import logging
import struct

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

from notifyq.queue_metrics import QueueCollector
from notifyq.runtime.metrics import readable_registry

log = logging.getLogger(__name__)
_queue = QueueCollector()


@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Prometheus text. With `NOTIFYQ_METRICS_TOKEN` set, only for `Authorization: Bearer <token>` (401 otherwise).

    Always answers: without the database, the gauges of the queue are missing and `notifyq_scrape_failed` is 1.
    """
    if not _may_read(request):
        return HttpResponse(
            "Send the metrics token: Authorization: Bearer <NOTIFYQ_METRICS_TOKEN>\n",
            status=401,
            content_type="text/plain; charset=utf-8",
            headers={"WWW-Authenticate": 'Bearer realm="metrics"'},
        )
    return HttpResponse(_counted() + _queued(), content_type=CONTENT_TYPE_LATEST)


def _may_read(request: HttpRequest) -> bool:
    token = settings.NOTIFYQ.metrics_token
    if not token:
        return True
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    right = hmac.compare_digest(given.strip().encode("utf-8", "replace"), token.encode("utf-8", "replace"))
    return right and scheme.lower() == "bearer"


def _counted() -> bytes:
    try:
        with readable_registry() as registry:
            return generate_latest(registry)
    except (OSError, RuntimeError, struct.error, UnicodeDecodeError, json.JSONDecodeError) as error:
        # A process died while it wrote, or somebody emptied the directory; the queue's own figures are worth more.
        log.warning("metrics_of_processes_unreadable", extra={"reason": type(error).__name__})
        return b""


def _queued() -> bytes:
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_queue)
    return generate_latest(registry)
