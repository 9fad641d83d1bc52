"""The console's view of what could not be delivered."""

from __future__ import annotations

from typing import ClassVar

from notifications.models.notification import Notification


class DeadLetter(Notification):
    """A notification that ended undelivered: the same row, with a list and permissions of its own in the console."""

    class Meta:
        proxy = True
        permissions: ClassVar = [("operate_deadletter", "Can retry and resolve dead letters")]
