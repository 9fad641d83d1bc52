"""How the worker processes are, by their heartbeats: heard of, and getting on with what they hold."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db import connection

DELIVERY = "delivery"
"""The role of those that send what is due. Others beat too, such as webhook dispatchers."""
QUARANTINE = "quarantine"
"""The role of those that try alone what a dead worker held."""
SENDING = (DELIVERY, QUARANTINE)
SHOWN_MOST = 200
LATE_SECONDS = 5.0
_STILL_TIMEOUTS = 3

# A table of a handful of rows. Still since the latest of its start, its last finished call and the time at which it
# took what it holds: whoever was idle for an hour is not slow with what came a moment ago.
_WORKERS = """
SELECT id, role, host, pid, held_count, buffered_count, seat_count, finished_count, started_at, beat_at, progressed_at,
       extract(epoch FROM now() - beat_at)::float8,
       extract(epoch FROM now() - coalesce(progressed_at, started_at))::float8,
       extract(epoch FROM now() - greatest(progressed_at, busy_since, started_at))::float8
  FROM notifications_worker ORDER BY role, host, pid LIMIT %s
"""
# The same table.
_FRESHEST = "SELECT extract(epoch FROM now() - max(beat_at))::float8 FROM notifications_worker WHERE role = %s"


def late_after_seconds() -> float:
    """The age of a heartbeat beyond which its worker has left out several: it beats each second, or each poll."""
    return max(LATE_SECONDS, 3 * float(settings.NOTIFYQ.poll_seconds))


@dataclass(frozen=True, slots=True)
class WorkerState:
    """One worker process. Ages are seconds by the database's clock.

    Attributes:
        held_count: what it has claimed: calls under way, and what waits for a seat.
        buffered_count: what waits for a seat.
        progress_age_seconds: since it finished its last call; since its start where there was none.
        still_seconds: since it last got on with what it holds.
    """

    id: str
    role: str
    host: str
    pid: int
    held_count: int
    buffered_count: int
    seat_count: int
    finished_count: int
    started_at: datetime
    beat_at: datetime
    progressed_at: datetime | None
    beat_age_seconds: float
    progress_age_seconds: float
    still_seconds: float

    @property
    def busy_count(self) -> int:
        """Seats in use."""
        return max(0, self.held_count - self.buffered_count)

    @property
    def is_alive(self) -> bool:
        return self.beat_age_seconds <= settings.NOTIFYQ.worker_silent_after_seconds

    @property
    def is_late(self) -> bool:
        """Not yet given up, but several heartbeats are missing: it is stopped, or cannot reach the database."""
        return self.is_alive and self.beat_age_seconds > late_after_seconds()

    @property
    def is_stuck(self) -> bool:
        """Alive and holding work, but nothing got done for longer than its calls may take."""
        return self.is_alive and self.held_count > 0 and self.still_seconds > self._patience_seconds

    @property
    def is_delivering(self) -> bool:
        """A delivery worker that was heard of just now."""
        return self.role == DELIVERY and self.is_alive and not self.is_late

    @property
    def is_at_work(self) -> bool:
        """Heard of just now, and not stuck: what is due will be taken."""
        return self.is_alive and not self.is_late and not self.is_stuck

    @property
    def _patience_seconds(self) -> float:
        config = settings.NOTIFYQ
        timeout = config.send_timeout_seconds if self.role in SENDING else config.webhook_timeout_seconds
        return _STILL_TIMEOUTS * float(timeout)


def workers() -> list[WorkerState]:
    """Every process that was heard of within the last hour or so, by role and host; at most SHOWN_MOST."""
    with connection.cursor() as cursor:
        cursor.execute(_WORKERS, [SHOWN_MOST])
        return [WorkerState(*row) for row in cursor.fetchall()]


def delivery_beat_age_seconds() -> float | None:
    """Since the freshest heartbeat of a delivery worker; None when none is known."""
    with connection.cursor() as cursor:
        cursor.execute(_FRESHEST, [DELIVERY])
        age: float | None = cursor.fetchone()[0]
        return age


def is_delivering() -> bool:
    """Whether some delivery worker was heard of just now."""
    age = delivery_beat_age_seconds()
    return age is not None and age <= late_after_seconds()
