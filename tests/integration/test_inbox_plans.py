"""The plans of what is asked of inboxes, with 40,000 entries: a handful of pages each, and no sort."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from notifications import inbox, queue
from notifications.channel import Channel
from notifications.models import Client, Content, InboxEntry, Notification
from notifications.queue.copies import deliver_copies
from tests.support.inboxes import accepted, push_with_copy
from tests.support.plans import explain, nodes_of, undone
from tests.support.rows import a_client, add, claim

TABLE = "notifications_inboxentry"
QUEUE = "notifications_notification"
ENTRIES = f"""
INSERT INTO {TABLE} (id, notification_id, client_id, user_id, body, collapse_key, send_at, read_at, data, subject)
SELECT gen_random_uuid(), gen_random_uuid(), %s, CASE WHEN n <= 10000 THEN 'busy' ELSE 'user ' || n %% 500 END, 'x',
  CASE WHEN n %% 10 = 0 THEN 'key ' || n %% 100 ELSE '' END, now(), CASE WHEN n %% 5 > 0 THEN now() END, '{{}}', ''
FROM generate_series(1, 40000) n
"""
GROUPED = f"""
INSERT INTO {QUEUE} (id, status, client_id, idempotency_key, fingerprint, channel, recipient, send_at, max_attempts,
  on_unconfirmed, finished_at, group_id)
SELECT gen_random_uuid(), 'SENT', %s, 'old ' || n, '', 'IN_APP', 'ada', now(), 6, 'RETRY', now(), gen_random_uuid()
FROM generate_series(1, 3000) n
"""


@pytest.fixture
def client(db: None) -> Client:
    """The entries need no notifications here: what is looked at are the ways to them."""
    client = a_client()
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {TABLE} DROP CONSTRAINT inbox_entry_of_notification")
        cursor.execute(ENTRIES, [client.pk])
        cursor.execute(GROUPED, [client.pk])
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute(f"ANALYZE {TABLE}, {QUEUE}")
    return client


def plans(run: Any, table: str, *words: str) -> list[dict[str, Any]]:
    """The plans of the statements on that table that hold these words, as they are run."""
    with undone(), CaptureQueriesContext(connection) as caught:
        run()
    statements = [q["sql"] for q in caught.captured_queries if table in q["sql"] and all(w in q["sql"] for w in words)]
    assert statements
    return [explain(sql) for sql in statements]


def look(plan: dict[str, Any]) -> tuple[set[str], set[str], int]:
    """The indexes it reads, the kinds of node that it should not have, and its pages. Of clients there are few."""
    nodes = [n for n in nodes_of(plan) if n.get("Relation Name") != Client._meta.db_table]
    faults = {n["Node Type"] for n in nodes if "Sort" in n["Node Type"] or "Seq" in n["Node Type"]}
    indexes = {n["Index Name"] for n in nodes if "Index Name" in n}
    return indexes, faults, plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]


def test_inboxes__beside_40000_entries__are_read_and_written_by_their_indexes(client: Client) -> None:
    """One test for all, since the many rows are dear."""
    _reading(client)
    _writing(client)


def _reading(client: Client) -> None:
    page = inbox.entries(client, "user 7").order_by("-pk")[:51]
    unread = inbox.entries(client, "user 7", unread=True).order_by("-pk")[:51]
    older = inbox.entries(client, "busy").filter(pk__lt=InboxEntry.objects.filter(user_id="busy").latest("pk").pk)
    reads = {
        "a page": (lambda: list(page), {"inbox_user"}, 60),
        "the next page": (lambda: list(older.order_by("-pk")[:51]), {"inbox_user"}, 60),
        "an unread page": (lambda: list(unread), {"inbox_unread"}, 30),
        "a count": (lambda: inbox.count_unread(client, "user 7"), {"inbox_unread"}, 30),
    }

    for name, (run, indexes, pages_most) in reads.items():
        [plan] = plans(run, TABLE)
        read, faults, pages = look(plan)
        assert (name, read, faults) == (name, indexes, set())
        assert pages < pages_most, name
    [plan] = plans(lambda: inbox.count_unread(client, "busy"), TABLE)
    assert look(plan)[0] == {"inbox_unread"}

    marking = plans(lambda: inbox.mark_all_read(client, "user 7"), TABLE, "SELECT")
    assert all(look(plan)[0] <= {"inbox_unread", f"{TABLE}_pkey"} for plan in marking)


def _writing(client: Client) -> None:
    add(20, channel=Channel.IN_APP)
    Content.objects.update(collapse_key="key 10")
    Notification.objects.filter(status="PENDING").update(client=client, recipient="user 10")
    endings = [accepted(row) for row in claim(limit=20)]
    push, _ = push_with_copy(client)
    groups = [n.group_id for n in Notification.objects.filter(pk=push) if n.group_id is not None]

    [write] = plans(lambda: queue.settle(endings), TABLE, "ON CONFLICT")
    [collapse] = plans(lambda: queue.settle(endings), TABLE, "FOR UPDATE OF e")
    copies = plans(lambda: deliver_copies(groups, worker_id="w"), QUEUE, "SELECT", "group_id")

    assert "Seq Scan" not in {
        n["Node Type"] for n in nodes_of(write) if n.get("Relation Name") != "notifications_content"
    }
    assert look(collapse)[0] == {"inbox_collapse"}
    assert all(look(plan)[0] == {"notification_group"} for plan in copies)
