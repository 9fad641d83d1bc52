"""The console's view of what could not be delivered."""

from __future__ import annotations

from notifications.models.notification import Notification


class DeadLetter(Notification):
    """A notification that ended undelivered: the same row, with a list of its own in the console."""

    class Meta:
        proxy = True
