"""Receipts as the queue takes them, for tests of what follows from them."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

from notifications import queue
from notifications.models import Receipt
from notifications.queue import Taken
from notifications.receipts import DeliveryStatus
from notifications.receipts import Receipt as Reported

PROVIDER = "sandbox"


def report(
    status: DeliveryStatus = DeliveryStatus.DELIVERED,
    *,
    key: UUID | None = None,
    message_id: str = "",
    event_id: str = "",
    provider: str = PROVIDER,
    **more: Any,
) -> Reported:
    return Reported(provider, key, message_id, event_id or uuid4().hex, status, **more)


def take(*args: Any, **more: Any) -> Taken:
    """Receive one report."""
    return queue.receive([report(*args, **more)])


def waiting_count() -> int:
    return Receipt.objects.filter(look_at__isnull=False).count()


def make_due() -> None:
    """Have the receipts that wait looked at in the next pass."""
    Receipt.objects.filter(look_at__isnull=False).update(look_at="2020-01-01T00:00:00Z")
