"""What may be done with webhooks. The API comes here, and so may a producer's own Django code."""

from webhooks.services.bulk import RedeliveryPreview, preview_redelivery, read_redelivery
from webhooks.services.endpoints import (
    ENDPOINTS_MOST,
    ROTATION_OVERLAP,
    change_endpoint,
    create_endpoint,
    delete_endpoint,
    enable_endpoint,
    rotate_secret,
)
from webhooks.services.events import redeliver, replay, send_test

__all__ = [
    "ENDPOINTS_MOST",
    "ROTATION_OVERLAP",
    "RedeliveryPreview",
    "change_endpoint",
    "create_endpoint",
    "delete_endpoint",
    "enable_endpoint",
    "preview_redelivery",
    "read_redelivery",
    "redeliver",
    "replay",
    "rotate_secret",
    "send_test",
]
