"""All looks, in the order of the report."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import psycopg
from django.conf import settings
from django.db import DatabaseError

from notifyq.doctor import installation, queue, server
from notifyq.doctor.finding import Finding, fail
from notifyq.runtime.logs import describe_error
from notifyq.runtime.probe import Probe, probe

PROBE_SECONDS = 20.0

Look = Callable[[Probe], Finding]
# What the later ones stand on comes first.
OF_THE_DATABASE: tuple[Look, ...] = (
    server.version,
    server.writable,
    server.isolation,
    server.durability,
    server.connections,
    server.clock,
    server.wakeup,
    queue.migrations,
    queue.privileges,
    queue.indexes,
    queue.vacuum,
    queue.dead_rows,
    queue.open_transactions,
    queue.leases,
    queue.workers,
    queue.breakers,
)


def examine() -> Iterator[Finding]:
    """Every finding, as soon as it is known. Never raises for what it finds; takes about half a minute at the most."""
    config = settings.NOTIFYQ
    yield installation.secret_key(settings.SECRET_KEY, debug=settings.DEBUG)
    yield installation.debug(on=settings.DEBUG)
    yield installation.providers(config)
    yield installation.variables()
    yield installation.lease(config)
    yield installation.grace(config)
    yield installation.metrics(settings.METRICS_PROBLEM)
    yield from _of_the_database()


def _of_the_database() -> Iterator[Finding]:
    try:
        with probe(PROBE_SECONDS) as looking:
            for look in OF_THE_DATABASE:
                yield _guarded(look, looking)
    except psycopg.Error as error:
        reason = describe_error(error).partition("\n")[0] if error.sqlstate else "no connection"
        yield fail("database", f"does not answer ({reason}). Start PostgreSQL, or correct DATABASE_URL.")


def _guarded(look: Look, looking: Probe) -> Finding:
    try:
        return look(looking)
    except (psycopg.Error, DatabaseError) as error:
        name = look.__name__.replace("_", " ")
        return fail(name, f"could not be looked at: {describe_error(error)}. Is `manage.py migrate` still to be run?")
