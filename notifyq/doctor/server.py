"""Looks at the PostgreSQL server."""

from __future__ import annotations

import threading
import time
from contextlib import closing

from django.conf import settings
from django.db import connection

from notifyq.doctor.finding import Finding, fail, ok, warn
from notifyq.runtime.probe import Probe

STATEMENT_SECONDS = 3.0
VERSION_LEAST, VERSION_MOST = 15, 18
"""The versions that the tests have seen."""
SKEW_MOST_SECONDS = 1.0
ECHO_SECONDS = 2.0
CONNECTIONS_SHARE = 0.8
_now = time.time


def version(looking: Probe) -> Finding:
    ((number,),) = looking.rows("SELECT current_setting('server_version_num')::int", seconds=STATEMENT_SECONDS)
    text = f"{number // 10_000}.{number % 10_000}"
    if number // 10_000 < VERSION_LEAST:
        return fail("PostgreSQL", f"{text} is too old. Upgrade to {VERSION_LEAST} or later.")
    if number // 10_000 > VERSION_MOST:
        return warn(
            "PostgreSQL", f"{text} is newer than {VERSION_MOST}, the last one this was tried on. Test it first."
        )
    return ok("PostgreSQL", text)


def writable(looking: Probe) -> Finding:
    ((standby,),) = looking.rows("SELECT pg_is_in_recovery()", seconds=STATEMENT_SECONDS)
    if standby:
        return fail("writes", "the server is a read-only standby. Point DATABASE_URL at the primary.")
    return ok("writes", "the server is a primary")


def isolation(looking: Probe) -> Finding:
    sql = "SELECT current_setting('default_transaction_isolation')"
    ((level,),) = looking.rows(sql, seconds=STATEMENT_SECONDS)
    if level != "read committed":
        text = f"is {level}, under which claims fail each other. Set default_transaction_isolation = 'read committed'."
        return fail("isolation", text)
    return ok("isolation", level)


def durability(looking: Probe) -> Finding:
    sql = "SELECT name FROM pg_settings WHERE name IN ('fsync', 'synchronous_commit') AND setting = 'off' ORDER BY name"
    off = [name for (name,) in looking.rows(sql, seconds=STATEMENT_SECONDS)]
    if off:
        return warn("durability", f"{' and '.join(off)} off: a crash loses what was accepted just before. Turn it on.")
    return ok("durability", "commits reach the disk")


def connections(looking: Probe) -> Finding:
    sql = "SELECT sum(numbackends)::int, current_setting('max_connections')::int FROM pg_stat_database"
    ((used, most),) = looking.rows(sql, seconds=STATEMENT_SECONDS)
    text = f"{used} of {most} in use"
    if used > most * CONNECTIONS_SHARE:
        return warn("connections", f"{text}. Raise max_connections, or put PgBouncer before the API.")
    return ok("connections", text)


def clock(looking: Probe) -> Finding:
    """Due times go by the server's clock alone; a difference only confuses whoever compares logs with rows."""
    before = _now()
    ((there,),) = looking.rows("SELECT extract(epoch FROM clock_timestamp())::float8", seconds=STATEMENT_SECONDS)
    after = _now()
    skew = there - (before + after) / 2
    if abs(skew) > SKEW_MOST_SECONDS + (after - before) / 2:
        side = "ahead of" if skew > 0 else "behind"
        return warn(
            "clock", f"the database is {abs(skew):.1f} s {side} this machine. Let both follow the same NTP servers."
        )
    return ok("clock", "this machine and the database agree")


def wakeup(looking: Probe) -> Finding:
    """A NOTIFY of our own has to come back, which it does not through a transaction pooler."""
    if not settings.NOTIFYQ.wakeup:
        return ok("wake-up", "switched off; workers poll")
    if _echo_comes_back():
        return ok("wake-up", "a NOTIFY comes back")
    return warn(
        "wake-up",
        f"a NOTIFY does not come back: workers only poll, every {settings.NOTIFYQ.poll_seconds:g} s. Behind a "
        "transaction pooler give the workers a direct address, or set NOTIFYQ_WAKEUP=false.",
    )


def _echo_comes_back() -> bool:
    channel = f"notifyq_doctor_{threading.get_native_id()}"
    with closing(connection.copy()) as own, own.cursor() as cursor:
        cursor.execute(f"LISTEN {own.ops.quote_name(channel)}")
        cursor.execute("SELECT pg_notify(%s, '')", [channel])
        return any(True for _ in own.connection.notifies(timeout=ECHO_SECONDS, stop_after=1))
