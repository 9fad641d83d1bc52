"""Looks at the queue's tables and at who works on them."""

from __future__ import annotations

from django.conf import settings
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.models import UniqueConstraint

from notifications.models import Attempt, Content, Notification, ProviderHealth, ProviderPace, Worker
from notifyq.doctor.finding import Finding, fail, ok, warn
from notifyq.runtime.probe import Probe
from ratelimits.models import Gate, Slot

STATEMENT_SECONDS = 3.0
TABLES = [
    model._meta.db_table for model in (Notification, Content, Attempt, Worker, ProviderHealth, ProviderPace, Slot, Gate)
]
DEAD_ROWS_LEAST = 50_000
TRANSACTION_AGE_MOST_SECONDS = 60.0

INDEXES = """
SELECT index.relname, i.indisvalid AND i.indisready
  FROM pg_index i JOIN pg_class index ON index.oid = i.indexrelid
 WHERE i.indrelid = %(table)s::regclass
"""
REFUSED = """
SELECT t FROM unnest(%(tables)s::text[]) AS t
 WHERE NOT (has_table_privilege(t, 'SELECT') AND has_table_privilege(t, 'INSERT')
            AND has_table_privilege(t, 'UPDATE') AND has_table_privilege(t, 'DELETE'))
"""
DEAD_ROWS = """
SELECT relname, n_live_tup, n_dead_tup FROM pg_stat_user_tables
 WHERE relid = ANY (%(tables)s::regclass[]) AND n_dead_tup > greatest(n_live_tup, %(least)s) ORDER BY n_dead_tup DESC
"""
OPEN_TRANSACTIONS = """
SELECT pid, state, extract(epoch FROM now() - xact_start)::float8 FROM pg_stat_activity
 WHERE datname = current_database() AND pid <> pg_backend_pid()
   AND backend_type IS DISTINCT FROM 'autovacuum worker' AND xact_start < now() - %(most)s * interval '1 second'
 ORDER BY xact_start LIMIT 1
"""
EXPIRED_LEASES = "SELECT count(*) FROM notifications_notification WHERE lease_expires_at < now() - interval '1 minute'"
WORKERS = """
SELECT count(*) FILTER (WHERE role = 'delivery'), count(*) FILTER (WHERE role = 'quarantine')
  FROM notifications_worker WHERE beat_at > now() - %(most)s * interval '1 second'
"""

OPEN_BREAKERS = """
SELECT channel, provider, tripped FROM notifications_providerhealth WHERE state <> 'CLOSED' ORDER BY channel, provider
"""


def migrations(looking: Probe) -> Finding:
    loader = MigrationLoader(connection)
    missing = sorted(set(loader.disk_migrations) - set(loader.applied_migrations))
    if missing:
        return fail(
            "migrations", f"{len(missing)} not applied, such as {'.'.join(missing[0])}. Run `manage.py migrate`."
        )
    return ok("migrations", "all applied")


def privileges(looking: Probe) -> Finding:
    refused = [name for (name,) in looking.rows(REFUSED, {"tables": TABLES}, seconds=STATEMENT_SECONDS)]
    if refused:
        return fail("privileges", f"the database user may not read and write {', '.join(refused)}. Grant it that.")
    return ok("privileges", "the database user may read and write the queue")


def indexes(looking: Probe) -> Finding:
    """All that the hot statements rely on. One that was built concurrently and failed is there, but invalid."""
    rows = looking.rows(INDEXES, {"table": Notification._meta.db_table}, seconds=STATEMENT_SECONDS)
    found = {str(name): bool(usable) for name, usable in rows}
    unique = [c.name for c in Notification._meta.constraints if isinstance(c, UniqueConstraint)]
    wanted = [*(index.name for index in Notification._meta.indexes), *unique]
    if missing := sorted(set(wanted) - set(found)):
        return fail("indexes", f"missing: {', '.join(missing)}. Create them as `manage.py sqlmigrate` shows.")
    if invalid := sorted(name for name, usable in found.items() if not usable):
        return fail("indexes", f"invalid: {', '.join(invalid)}. Run REINDEX INDEX CONCURRENTLY on each.")
    return ok("indexes", f"all {len(wanted)} are there and valid")


def vacuum(looking: Probe) -> Finding:
    sql = "SELECT current_setting('autovacuum'), reloptions::text FROM pg_class WHERE oid = %(table)s::regclass"
    ((autovacuum, options),) = looking.rows(sql, {"table": Notification._meta.db_table}, seconds=STATEMENT_SECONDS)
    if autovacuum == "off" or "autovacuum_enabled=false" in (options or ""):
        return fail("autovacuum", "is off: claims slow down more and more. Set autovacuum = on.")
    if "autovacuum_vacuum_scale_factor" not in (options or ""):
        text = "the queue's table has lost its own settings. Apply notifications.0002_tune_queue_tables again."
        return warn("autovacuum", text)
    return ok("autovacuum", "is on, with the queue's own settings")


def dead_rows(looking: Probe) -> Finding:
    values = {"tables": TABLES, "least": DEAD_ROWS_LEAST}
    rows = looking.rows(DEAD_ROWS, values, seconds=STATEMENT_SECONDS)
    if rows:
        table, live, dead = rows[0]
        text = f"{table} holds {dead} dead rows beside {live} live ones. Look for long transactions, then run VACUUM."
        return warn("dead rows", text)
    return ok("dead rows", "no more than usual")


def open_transactions(looking: Probe) -> Finding:
    values = {"most": TRANSACTION_AGE_MOST_SECONDS}
    rows = looking.rows(OPEN_TRANSACTIONS, values, seconds=STATEMENT_SECONDS)
    if rows:
        pid, state, age = rows[0]
        text = (
            f"backend {pid} ({state or 'not visible'}) has been in one for {age:.0f} s. Until it ends, dead rows stay; "
        )
        return warn("open transactions", text + "end it, and set idle_in_transaction_session_timeout.")
    return ok("open transactions", f"none older than {TRANSACTION_AGE_MOST_SECONDS:.0f} s")


def leases(looking: Probe) -> Finding:
    ((count,),) = looking.rows(EXPIRED_LEASES, seconds=STATEMENT_SECONDS)
    if count:
        return fail(
            "leases", f"{count} ran out over a minute ago and nobody took them back. Start `manage.py run_workers`."
        )
    return ok("leases", "none has run out")


def workers(looking: Probe) -> Finding:
    values = {"most": settings.NOTIFYQ.worker_silent_after_seconds}
    ((delivery, quarantine),) = looking.rows(WORKERS, values, seconds=STATEMENT_SECONDS)
    if not delivery:
        return warn("workers", "none is alive: nothing is delivered. Start `manage.py run_workers`.")
    return ok("workers", f"{delivery} for delivery and {quarantine} for quarantine are alive")


def breakers(looking: Probe) -> Finding:
    """A channel without any closed one is served by nobody."""
    rows = looking.rows(OPEN_BREAKERS, seconds=STATEMENT_SECONDS)
    if not rows:
        return ok("providers' health", "no breaker is open")
    named = ", ".join(f"{name} ({channel}{', by an operator' if by_hand else ''})" for channel, name, by_hand in rows)
    out = {(channel, name) for channel, name, _ in rows}
    chains = settings.NOTIFYQ.provider_chains
    unserved = [channel for channel, chain in chains.items() if all((channel, name) in out for name in chain)]
    if unserved:
        text = f"no provider is left for {', '.join(unserved)}; open are {named}. See `GET /api/v1/breakers`."
        return fail("providers' health", text)
    return warn("providers' health", f"open are {named}: others of their chains serve. See `GET /api/v1/breakers`.")
