"""The console's looks at a big table: each reads its index, and never sorts or walks the whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from notifications.admin import filters, search
from notifications.admin.filters import CreatedFilter, ErrorFilter
from notifications.models import Notification
from notifications.undelivered import NONE, SHOWN, Kind, Place, Wanted, page_of, summarize
from notifyq.overview.troubles import read_troubles
from tests.support.plans import explain, nodes_of
from tests.support.rows import a_client, database_now

TABLE = "notifications_notification"
ROW_COUNT = 100_000
# Ids in the order of time, as they really are. A tenth is dead-lettered; a recipient comes a hundred times.
FILL = f"""
INSERT INTO {TABLE} (id, status, client_id, idempotency_key, fingerprint, channel, recipient, priority, send_at,
  max_attempts, on_unconfirmed, finished_at, last_used_provider, last_error_code, unconfirmed_provider,
  provider_message_id)
SELECT (lpad(to_hex((extract(epoch FROM now()) * 1000)::bigint - %(count)s + n), 12, '0')
         || '70008000' || lpad(to_hex(n), 12, '0'))::uuid,
       COALESCE((ARRAY['DEAD_LETTERED', 'FAILED'])[1 + n %% 10], 'SENT'), %(client)s, n::text, '', 'EMAIL',
       'person' || n %% 1000 || '@example.org', 1, now(), 6, 'RETRY', now() - (%(count)s - n) * interval '1 second',
       'smtp', 'code-' || n %% 100, CASE WHEN n %% 50 = 0 THEN 'smtp' ELSE '' END, 'message ' || n
  FROM generate_series(0, %(count)s - 1) AS n
"""


@dataclass(frozen=True)
class Look:
    """Something that the console asks.

    Attributes:
        indexes: those it may read.
        pages_most: how many pages of the database it may touch, all its statements together.
    """

    name: str
    run: Callable[[], Any]
    indexes: frozenset[str]
    pages_most: int


UNDELIVERED, PRIMARY = "notification_undelivered", f"{TABLE}_pkey"
LABELS = frozenset({f"notification_{name}" for name in ("recipient", "reference", "user", "idempotency", "message_id")})


def _filtered(kind: type[CreatedFilter] | type[ErrorFilter], text: str) -> list[Notification]:
    found = kind(None, {kind.parameter_name: [text]}, Notification, None)
    rows = found.queryset(None, Notification.objects.all())
    return list(rows.order_by("-pk")[:SHOWN])


def _looks() -> Iterator[Look]:
    just, walked = frozenset({UNDELIVERED}), 400
    page, rows = just | {PRIMARY}, SHOWN * 5
    middle = Place(database_now() - timedelta(seconds=ROW_COUNT // 2), Notification.objects.order_by("pk")[0].pk)
    yield Look("groups", lambda: summarize(Kind.ALL), just, 2 * walked + 500)
    # Nothing waits or is in doubt here: each is empty.
    waiting = {"notification_claim", "notification_waiting", "notification_reconciling"}
    yield Look("attention", lambda: read_troubles(()), just | waiting, 300)
    yield Look("latest", lambda: page_of(Wanted()), page, rows)
    yield Look("latest of all", lambda: page_of(Wanted(kind=Kind.ALL)), page, rows)
    yield Look("in the middle", lambda: page_of(Wanted(), middle), page, rows)
    yield Look("newer", lambda: page_of(Wanted(), Place(middle.finished_at, middle.id, older=False)), page, rows)
    yield Look("of a window", lambda: page_of(Wanted(before=middle.finished_at)), page, rows)
    yield Look("held", lambda: page_of(Wanted(kind=Kind.HELD)), page, rows)
    yield Look("error", lambda: page_of(Wanted(error_code="code-50", provider="smtp")), page, rows + walked)
    yield Look("untried", lambda: page_of(Wanted(provider=NONE, channel="SMS")), page, 2 * walked)
    yield Look("search", lambda: search.find_ids("person5@example.org"), LABELS | {PRIMARY}, 1_000)
    yield Look("of ids", lambda: page_of(Wanted(ids=search.find_ids("person10@example.org"))), LABELS | page, 2_000)
    yield Look("created", lambda: _filtered(CreatedFilter, "hour"), frozenset({PRIMARY}), rows)
    yield Look("error among the newest", lambda: _filtered(ErrorFilter, "code-7"), frozenset({PRIMARY}), 2_000)


@pytest.mark.django_db(transaction=True)
def test_looks__100000_rows__read_their_index_and_sort_no_more_than_a_few(monkeypatch) -> None:
    """One test for all, since the many rows are dear."""
    with connection.cursor() as cursor:
        cursor.execute("SET synchronous_commit = on")  # or the rows would not count as visible to everybody yet
        cursor.execute(FILL, {"client": a_client().pk, "count": ROW_COUNT})
        cursor.execute(f"VACUUM ANALYZE {TABLE}")  # as it is within a minute, see the tuning in 0002
        cursor.execute("RESET synchronous_commit")
    monkeypatch.setattr(filters, "NEWEST", ROW_COUNT // 10)
    found = {look.name: _faults(look) for look in _looks()}
    assert {name: faults for name, faults in found.items() if faults} == {}


def _faults(look: Look) -> list[str]:
    with CaptureQueriesContext(connection) as caught:
        look.run()
    plans = [explain(query["sql"]) for query in caught.captured_queries if TABLE in query["sql"]]
    nodes = [node for plan in plans for node in nodes_of(plan)]
    mine = [node for node in nodes if node.get("Index Name") and node.get("Relation Name", TABLE) == TABLE]
    faults = [f"reads {node['Index Name']}" for node in mine if node["Index Name"] not in look.indexes]
    faults += [node["Node Type"] for node in nodes if node.get("Relation Name") == TABLE and "Seq" in node["Node Type"]]
    faults += [f"sorts {rows}" for node in nodes if node["Node Type"] == "Sort" and (rows := _rows_in(node)) > 510]
    touched = sum(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"] for plan in plans)
    return faults + [f"touches {touched} pages"] * (touched > look.pages_most) + ["asked nothing"] * (not mine)


def _rows_in(node: dict[str, Any]) -> float:
    rows: float = sum(child["Actual Rows"] * child["Actual Loops"] for child in node["Plans"])
    return rows
