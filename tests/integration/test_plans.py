"""The plans of the hot statements: each reads its index in order, however many rows wait for another day."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from notifications import counting, outcome, queue
from notifications.channel import Channel
from notifications.models import Notification
from notifications.queue import AttemptRecord, Claimer, Ending, Limits, Start
from notifications.queue.rescue import Safety
from notifications.retry import Backoff
from notifications.verdict import Outcome, Verdict
from ratelimits.window import Limit
from tests.support.askable import in_doubt
from tests.support.plans import explain, nodes_of, undone
from tests.support.rows import add, claim

TABLE = "notifications_notification"
FUTURE_COUNT = 200_000
FILL = f"""
INSERT INTO {TABLE} (id, status, due_at, client_id, idempotency_key, fingerprint, channel, recipient, priority,
  waiting_reason, send_at, max_attempts, on_unconfirmed, expires_at)
SELECT gen_random_uuid(), 'PENDING', now() + n * interval '1 minute', %s, 'future ' || n, '', 'EMAIL',
  'ada@example.org', 0, 'SCHEDULED', now() + n * interval '1 minute', 6, 'RETRY', now() + (n + 60) * interval '1 minute'
FROM generate_series(1, %s) n
"""
FINISHED = f"""
INSERT INTO {TABLE} (id, status, client_id, idempotency_key, fingerprint, channel, recipient, send_at, max_attempts,
  on_unconfirmed, finished_at)
SELECT gen_random_uuid(), 'SENT', %s, 'old ' || n, '', 'EMAIL', 'ada@example.org', now(), 6, 'RETRY', now()
FROM generate_series(1, 20000) n
"""
IN_DOUBT = f"""
INSERT INTO {TABLE} (id, status, client_id, idempotency_key, fingerprint, channel, recipient, send_at, max_attempts,
  on_unconfirmed, unconfirmed_provider, unconfirmed_at, due_at)
SELECT gen_random_uuid(), 'RECONCILING', %s, 'doubt ' || n, '', 'EMAIL', 'ada@example.org', now(), 6, 'RETRY',
  'another', now(), now() - n * interval '1 second'
FROM generate_series(1, 20000) n
"""
HELD_COUNT = 500
INDEXES = {index.name for index in Notification._meta.indexes} | {f"{TABLE}_pkey"}


@dataclass(frozen=True)
class Hot:
    """A statement of the engine, caught in the act."""

    name: str
    index: str
    run: Callable[[], Any]
    catches: Callable[[str], bool]


def _selects(sql: str) -> bool:
    return sql.startswith("SELECT") and TABLE in sql and "FOR NO KEY UPDATE" in sql


def _rescue(workers: list[str] | None) -> Any:
    return queue.rescue(lambda channel, recipient, name: Safety(name or "sandbox", False, 60.0), worker_ids=workers)


def _claim(channels: tuple[Channel, ...] = (), *, suspects: bool = False) -> Any:
    return claim(worker_id="another", limit=100, lease_seconds=60, channels=channels, suspects=suspects)


def _ask() -> Any:
    return queue.take_askings("sandbox", 16, worker_id="asker", token=UUID(int=7), lease_seconds=60)


def _claim_over_limit() -> Any:
    return queue.claim(Claimer("another", 60, Limits(Limit(1, 3600), 0.0)), 100)


def _held() -> list[tuple[UUID, UUID]]:
    rows = Notification.objects.filter(worker_id="holder").values_list("pk", "claim_token")
    return [(row, token) for row, token in rows if token is not None]


def _settle() -> Any:
    decision = outcome.after_verdict(
        outcome.Standing(1, 6),
        Verdict.accepted("m"),
        provider="sandbox",
        may_send_again=True,
        backoff=Backoff(1, 60),
        dice=random.Random(0),
    )
    record = AttemptRecord(1, 1, 1, "sandbox", Outcome.ACCEPTED, "", "", "m", 1.0, 0.0, "holder")
    return queue.settle([Ending(row, token, decision, (record,)) for row, token in _held()])


def _start_sends() -> Any:
    return queue.start_sends([Start(row, token, "sandbox", 1.0) for row, token in _held()[:200]])


HOT = [
    Hot("claim", "notification_claim", _claim, _selects),
    Hot("claim of a channel", "notification_claim_channel", lambda: _claim((Channel.EMAIL,)), _selects),
    Hot("claim of suspects", "notification_suspect", lambda: _claim(suspects=True), _selects),
    Hot("rest of a recipient", "notification_ready", _claim_over_limit, lambda sql: "LATERAL" in sql and TABLE in sql),
    Hot("parking", f"{TABLE}_pkey", _claim_over_limit, lambda sql: "parked_by = v.bucket" in sql),
    Hot("rescue", "notification_lease", lambda: _rescue(None), _selects),
    Hot("rescue of the dead", "notification_lease", lambda: _rescue(["holder"]), _selects),
    Hot("questions", "notification_reconciling", lambda: _ask(), _selects),
    Hot(
        "providers in doubt",
        "notification_reconciling",
        queue.providers_in_doubt,
        lambda sql: "WITH RECURSIVE" in sql,
    ),
    Hot("expire", "notification_expiry", queue.expire, _selects),
    Hot("next due", "notification_claim", queue.next_due_in_seconds, lambda sql: "UNION ALL" in sql),
    Hot("oldest due, for people", "notification_claim", counting.count_all, lambda sql: "oldest.due_at" in sql),
    Hot("settle", f"{TABLE}_pkey", _settle, lambda sql: sql.startswith("WITH ended")),
    Hot("start of sends", f"{TABLE}_pkey", _start_sends, lambda sql: "sending_provider = v.provider" in sql),
]


def _some_rows() -> UUID:
    add(HELD_COUNT, body="held")
    claim(worker_id="holder", limit=HELD_COUNT, lease_seconds=600)
    client = Notification.objects.values_list("client_id", flat=True)[0]
    _execute(FINISHED, client)
    add(300, body="due")
    in_doubt(100, provider="sandbox")
    _execute(IN_DOUBT, client)
    return client


def _analyze() -> None:
    _execute(f"ANALYZE {TABLE}")


def _execute(sql: str, *values: Any) -> None:
    with connection.cursor() as cursor:
        # The claim before it has bounded this transaction.
        cursor.execute("SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0")
        cursor.execute(sql, values or None)


def _plans(hot: Hot) -> list[dict[str, Any]]:
    """Run the statement for real, undo it, and have PostgreSQL run and explain what was caught."""
    with undone(), CaptureQueriesContext(connection) as caught:
        hot.run()
    statements = [q["sql"] for q in caught.captured_queries if hot.catches(q["sql"])]
    assert statements, f"{hot.name}: no such statement was run"
    return [explain(sql) for sql in statements]


def _buffers(plans: list[dict[str, Any]]) -> int:
    return sum(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"] for plan in plans)


@pytest.mark.django_db
def test_hot_statements__200000_rows_for_later__read_their_index_in_order_and_no_more_pages() -> None:
    """One test for all, since the many rows are dear. They are never committed."""
    client = _some_rows()
    _analyze()
    before = {hot.name: _plans(hot) for hot in HOT}
    _execute(FILL, client, FUTURE_COUNT)
    _execute("SET CONSTRAINTS ALL IMMEDIATE")  # or the check at the end of a test would take as long again
    _analyze()
    found = {hot.name: _faults(hot, _plans(hot), before[hot.name]) for hot in HOT}
    assert {name: faults for name, faults in found.items() if faults} == {}


def _faults(hot: Hot, plans: list[dict[str, Any]], before: list[dict[str, Any]]) -> list[str]:
    nodes = [node for plan in plans for node in nodes_of(plan)]
    faults = [n["Node Type"] for n in nodes if "Sort" in n["Node Type"]]
    faults += [n["Node Type"] for n in nodes if "Seq Scan" in n["Node Type"] and n.get("Relation Name") == TABLE]
    faults += [f"reads {i}" for n in nodes if (i := n.get("Index Name", "")) in INDEXES and i != hot.index]
    if hot.index not in {n.get("Index Name") for n in nodes}:
        faults.append(f"does not read {hot.index}")
    # A tree of 200,000 entries is a level deeper: each descent pays a page for it, and nothing else grows. (A new
    # version of a row descends into every index.)
    few = len(INDEXES) * HELD_COUNT if hot.index.endswith("pkey") else 3 * len(plans)
    if _buffers(plans) > _buffers(before) + few + 10:
        faults.append(f"{_buffers(plans)} pages instead of {_buffers(before)}")
    return faults
