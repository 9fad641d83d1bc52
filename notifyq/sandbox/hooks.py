"""A receiver of webhooks beside the simulated vendor: it says yes to all, and remembers the latest."""

from __future__ import annotations

from collections import deque
from datetime import UTC, datetime
from email.message import Message
from typing import Any

from notifyq.sandbox import replies
from notifyq.sandbox.replies import Reply

KEPT_MOST = 100
_HEADERS = ("webhook-id", "webhook-timestamp", "webhook-signature")


class Hooks:
    """In memory only: to look at, never to rely on. Safe to call from many threads."""

    def __init__(self) -> None:
        self._latest: deque[dict[str, Any]] = deque(maxlen=KEPT_MOST)

    def receive(self, headers: Message, document: object) -> Reply:
        """Take one.

        Args:
            headers: those of the Standard Webhooks rules are kept, unchecked.
            document: the decoded JSON body.
        """
        now = datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
        kept = {name: headers.get(name, "") for name in _HEADERS}
        self._latest.appendleft({"receivedAt": now, "headers": kept, "document": document})
        return Reply(204)

    def show(self) -> Reply:
        """The latest, newest first."""
        return replies.document({"webhooks": list(self._latest)})
