"""What a notification's full view says of its webhooks."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from webhooks import selectors
from webhooks.api import present


def of_notification(notification_id: UUID) -> dict[str, Any]:
    """`{"webhookEvents": […]}`, oldest first."""
    return {"webhookEvents": [present.event(row) for row in selectors.of_notification(notification_id)]}
