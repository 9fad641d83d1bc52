"""What came to grief at the recipient's side is found by an index that only grows with it."""

from __future__ import annotations

from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from notifications import selectors
from notifications.models import Notification
from notifications.receipts import DeliveryStatus as To
from notifications.receipts.status import TROUBLE, trouble
from notifications.selectors import NotificationFilter
from notifications.status import Status
from tests.support.api import Caller
from tests.support.factories import ClientFactory, NotificationFactory
from tests.support.plans import explain, nodes_of
from tests.support.reports import take

MANY = """
INSERT INTO notifications_notification (id, status, client_id, idempotency_key, fingerprint, channel, recipient,
  send_at, max_attempts, on_unconfirmed, finished_at, provider, delivery_status, reported_trouble)
SELECT gen_random_uuid(), 'SENT', %s, 'old ' || n, '', 'EMAIL', 'ada@example.org', now(), 6, 'RETRY', now(), 'ses',
  CASE WHEN n %% 100 = 0 THEN 'BOUNCED' ELSE 'DELIVERED' END, CASE WHEN n %% 100 = 0 THEN 'BOUNCED' ELSE '' END
FROM generate_series(1, 5000) n
"""
pytestmark = pytest.mark.django_db


def listed(caller: Caller) -> dict[str, int]:
    return {status: len(caller.get(query={"deliveryStatus": status}).json()["results"]) for status in To}


def test_trouble__is_what_somebody_may_have_to_see_to() -> None:
    assert {status for status in To if trouble(status)} == TROUBLE == set(To) - {To.ACCEPTED, To.DELIVERED, To.OPENED}
    assert (trouble(None), trouble("")) == ("", "")


def test_list__as_reports_come__shows_each_under_what_counts(caller: Caller) -> None:
    row = NotificationFactory(client=caller.client, status=Status.SENT)
    NotificationFactory(client=caller.client, status=Status.SENT)
    nothing = dict.fromkeys(To, 0)
    assert listed(caller) == nothing
    for status in (To.ACCEPTED, To.DELAYED, To.DELIVERED, To.OPENED, To.BOUNCED, To.COMPLAINED):
        take(status, key=row.pk)
        assert listed(caller) == nothing | {status: 1}
    take(To.DELIVERED, key=row.pk)
    assert listed(caller) == nothing | {To.COMPLAINED: 1}


@pytest.mark.parametrize("is_operator", [True, False])
def test_list__of_trouble_among_many__reads_its_index_in_order(is_operator: bool) -> None:
    client = ClientFactory()
    with connection.cursor() as cursor:
        cursor.execute(MANY, [client.pk])
        cursor.execute("ANALYZE notifications_notification")
    wanted = NotificationFilter(delivery_status=To.BOUNCED)
    page = selectors.listed(None if is_operator else client, wanted).order_by("-pk")[:21]
    with CaptureQueriesContext(connection) as caught:
        list(page)
    nodes = list(nodes_of(explain(caught.captured_queries[-1]["sql"])))
    assert "notification_trouble" in {node.get("Index Name") for node in nodes}
    scanned = {node["Relation Name"] for node in nodes if node["Node Type"] == "Seq Scan"}
    assert Notification._meta.db_table not in scanned


def _updates() -> tuple[int, int]:
    """Of this transaction: all, and those that touched no index."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_xact_user_tables WHERE relname = %s",
            [Notification._meta.db_table],
        )
        found: tuple[int, int] = cursor.fetchone()
        return found


def test_receive__of_good_news__touches_no_index_of_the_queue() -> None:
    row = NotificationFactory(status=Status.SENT)
    before = _updates()
    for status in (To.ACCEPTED, To.DELIVERED, To.OPENED):
        take(status, key=row.pk)
    good = _updates()
    take(To.BOUNCED, key=row.pk)
    bad = _updates()
    assert (good[0] - before[0], good[1] - before[1]) == (3, 3)
    assert (bad[0] - good[0], bad[1] - good[1]) == (1, 0)


def test_migration__what_was_reported_before__is_filled_in() -> None:
    bounced, delivered = (NotificationFactory(status=Status.SENT) for _ in range(2))
    for row, status in ((bounced, To.DELAYED), (bounced, To.BOUNCED), (delivered, To.DELIVERED)):
        take(status, key=row.pk)
    Notification.objects.update(reported_trouble="")
    module: Any = import_module("notifications.migrations.0025_index_trouble")
    module.BATCH = 2
    module.fill_existing(None, SimpleNamespace(connection=connection))
    found = dict(Notification.objects.values_list("pk", "reported_trouble"))
    assert found == {bounced.pk: "BOUNCED", delivered.pk: ""}
    assert set(module.TROUBLE) == TROUBLE
