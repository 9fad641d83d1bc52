"""Waking the dispatchers."""

from __future__ import annotations

from django.db import transaction

from notifyq.runtime.wakeup import notify

CHANNEL = "notifyq_webhooks"


def wake_dispatchers_after_commit() -> None:
    """NOTIFY once the present transaction has committed, on this connection: outcomes are written by processes that
    fork, where no thread may live, and many of them share one transaction anyway."""
    transaction.on_commit(lambda: notify(CHANNEL), robust=True)
