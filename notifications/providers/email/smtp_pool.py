"""Keeps a few sessions open between mails, so that most sends need no new connection, handshake and login."""

from __future__ import annotations

import threading
import time

from notifications.providers.email.smtp_session import SmtpSession
from notifications.providers.email.smtp_settings import SmtpServer

IDLE_MAX_SECONDS = 20.0  # Exim and Postfix wait for minutes, some load balancers for one
MAILS_PER_SESSION_MAX_COUNT = 100  # large receivers end a session after about as many
KEPT_MAX_COUNT = 64
CLOSE_WAIT_SECONDS = 1.0


class SessionPool:
    """Idle sessions by server. May be used by many threads; a session belongs to one from `take` to `put`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[SmtpSession] = []
        self._closed = False

    def take(self, server: SmtpServer) -> SmtpSession | None:
        """An idle session with this server that was open a moment ago, the last used first."""
        while (session := self._pop(server)) is not None:
            if session.idle_since >= time.monotonic() - IDLE_MAX_SECONDS and session.is_quiet():
                return session
            session.quit()
        return None

    def put(self, session: SmtpSession) -> None:
        """Keep the session for the next mail, or end it."""
        session.idle_since = time.monotonic()
        with self._lock:
            keep = session.usable and session.mail_count < MAILS_PER_SESSION_MAX_COUNT and not self._closed
            if keep:
                self._idle.append(session)
            surplus = self._overdue()
        for ended in surplus if keep else [*surplus, session]:
            ended.quit()

    def close(self) -> None:
        """End all idle sessions now, and those in use as they come back."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        end = time.monotonic() + CLOSE_WAIT_SECONDS
        for session in idle:
            session.quit(wait_seconds=max(0.0, end - time.monotonic()))

    def _pop(self, server: SmtpServer) -> SmtpSession | None:
        with self._lock:
            for index in reversed(range(len(self._idle))):
                if self._idle[index].server == server:
                    return self._idle.pop(index)
        return None

    def _overdue(self) -> list[SmtpSession]:
        """Take out what has idled too long or is one too many; the list is in order of last use."""
        oldest = time.monotonic() - IDLE_MAX_SECONDS
        count = sum(1 for s in self._idle if s.idle_since < oldest)
        count = max(count, len(self._idle) - KEPT_MAX_COUNT)
        overdue, self._idle = self._idle[:count], self._idle[count:]
        return overdue
