"""Health checks: `/health/live` for restarting a process, `/health/ready` for knowing whether the service delivers."""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import psycopg
from django.conf import settings
from django.db.migrations.loader import MigrationLoader
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from notifyq.runtime.probe import Probe, probe

CHECK_SECONDS = 2.0
CACHE_SECONDS = 1.0
"""Anyone may call these addresses; the database is asked at most once in so long by each process."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at. `detail` says what is wrong and what to do; empty when all is well."""

    name: str
    detail: str = ""
    figures: dict[str, float] = field(default_factory=dict)

    def as_json(self) -> dict[str, object]:
        return {"ok": not self.detail, **({"detail": self.detail} if self.detail else {}), **self.figures}


@never_cache
@require_safe
def live(request: HttpRequest) -> HttpResponse:
    """The process answers. Never looks at the database: restarting this process would not bring that back."""
    return JsonResponse({"status": "ok"})


@never_cache
@require_safe
def ready(request: HttpRequest) -> HttpResponse:
    """Whether notifications are accepted *and* delivered: 200, or 503 with what is wrong and what to do.

    The database must answer within 2 s, its tables must be those of this code, and some delivery worker must have been
    heard of within 30 s (or three polls, if that is longer). Where this address decides which API server gets requests,
    set `NOTIFYQ_READY_NEEDS_WORKER=false`: without workers notifications are still accepted and kept, and nothing is
    gained by turning producers away.
    """
    checks = _looker.look()
    well = not any(check.detail for check in checks)
    answer = {
        "status": "ok" if well else "unavailable",
        "checks": {check.name: check.as_json() for check in checks},
    }
    return JsonResponse(answer, status=200 if well else 503)


class _Looker:
    """Keeps the last result for a moment. Those who come while a look is under way wait for its result."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._checks: list[Check] = []
        self._looked_at = float("-inf")

    def look(self) -> list[Check]:
        with self._lock:
            if time.monotonic() - self._looked_at > CACHE_SECONDS:
                self._checks = _look()
                self._looked_at = time.monotonic()
            return self._checks

    def forget(self) -> None:
        self._looked_at = float("-inf")


_looker = _Looker()


def _look() -> list[Check]:
    # The exception's text is not shown: it names hosts and users.
    checks = [Check("database")]
    try:
        with probe(CHECK_SECONDS) as looking:
            looking.rows("SELECT 1", seconds=CHECK_SECONDS)
            checks.append(_guarded("migrations", _migrations, looking))
            if settings.NOTIFYQ.ready_needs_worker:
                checks.append(_guarded("workers", _workers, looking))
    except psycopg.Error:
        return [Check("database", "The database does not answer. Start PostgreSQL, or correct DATABASE_URL.")]
    return checks


def _guarded(name: str, look: Callable[[Probe], Check], looking: Probe) -> Check:
    try:
        return look(looking)
    except (psycopg.errors.UndefinedTable, psycopg.errors.UndefinedColumn):
        return Check(name, "Tables are missing. Run `manage.py migrate`.")
    except psycopg.errors.InsufficientPrivilege:
        return Check(name, "The database user may not read the tables. Grant it access, or correct DATABASE_URL.")


def _migrations(looking: Probe) -> Check:
    rows = looking.rows("SELECT app, name FROM django_migrations", seconds=CHECK_SECONDS)
    missing = _known_migrations() - {(app, name) for app, name in rows}
    if not missing:
        return Check("migrations")
    names = ", ".join(sorted(f"{app}.{name}" for app, name in missing)[:3])
    more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
    return Check("migrations", f"Not applied: {names}{more}. Run `manage.py migrate`.")


@functools.cache
def _known_migrations() -> frozenset[tuple[str, str]]:
    return frozenset(MigrationLoader(None).disk_migrations)


def _workers(looking: Probe) -> Check:
    # The heartbeats are few. The quarantine and webhook dispatchers beat too, and take nothing that is simply due.
    sql = "SELECT extract(epoch FROM now() - max(beat_at))::float8 FROM notifications_worker WHERE role = 'delivery'"
    ((age,),) = looking.rows(sql, seconds=CHECK_SECONDS)
    if age is None:
        return Check("workers", "No worker has ever reported. Start `manage.py run_workers`.")
    figures = {"heartbeatAgeSeconds": round(age, 1)}
    if age <= settings.NOTIFYQ.worker_silent_after_seconds:
        return Check("workers", figures=figures)
    return Check("workers", f"No worker was heard of for {age:.0f} s. Start `manage.py run_workers`.", figures)
