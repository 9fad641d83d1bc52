"""`/metrics`: the queue's gauges, their price, and that something is always answered."""

import dataclasses
import re
import socket
from datetime import timedelta
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from django.db import connection
from django.utils import timezone
from django_prometheus import conf

from notifications import counting
from notifications.channel import Priority
from notifications.models import Client, Notification, Worker
from notifyq import metrics_view, queue_metrics
from notifyq.runtime import metrics as process_metrics
from notifyq.runtime import probe
from notifyq.runtime.ids import uuid7

committed = pytest.mark.django_db(transaction=True)


@pytest.fixture
def shop():
    return Client.objects.create(name="Shop")


def notification(shop, status="PENDING", **fields):
    held = {"claim_token": uuid7(), "worker_id": "w1", "lease_expires_at": timezone.now() + timedelta(seconds=60)}
    filled = {
        "client": shop,
        "idempotency_key": str(uuid7()),
        "fingerprint": b"f",
        "channel": "EMAIL",
        "recipient": "ada@example.com",
        "send_at": timezone.now(),
        "max_attempts": 6,
        "on_unconfirmed": "RETRY",
        **({**held, "attempt_count": 1} if status == "PROCESSING" else {}),
    }
    return Notification.objects.create(status=status, **{**filled, **fields})


def scrape(client):
    metrics_view._queue.forget()
    response = client.get("/metrics")
    assert response.status_code == 200
    return response.content.decode()


def value(text, name, **labels):
    inside = ",".join(f'{k}="{v}"' for k, v in sorted(labels.items()))
    found = re.search(rf"^{re.escape(name + (f'{{{inside}}}' if inside else ''))} (\S+)$", text, re.MULTILINE)
    return float(found[1]) if found else None


def depth(text, status, channel="EMAIL", priority="NORMAL"):
    return value(text, "notifyq_queue_depth", status=status, channel=channel, priority=priority)


@committed
def test_metrics__empty_queue__every_gauge_is_there_and_zero(client):
    text = scrape(client)
    assert depth(text, "PENDING") == depth(text, "PROCESSING") == depth(text, "RECONCILING") == 0
    assert value(text, "notifyq_oldest_due_age_seconds") == 0
    assert value(text, "notifyq_suspects") == value(text, "notifyq_leases_expired") == 0
    assert value(text, "notifyq_reconciling_oldest_age_seconds") == 0
    assert value(text, "notifyq_scrape_failed") == 0
    assert "django_http_requests_before_middlewares_total" in text


@committed
def test_metrics__rows_in_each_state__are_counted_where_they_belong(client, shop):
    now = timezone.now()
    notification(shop)
    notification(shop, suspect=True)
    notification(shop, channel="SMS", priority=Priority.HIGH)
    notification(shop, "PROCESSING")
    notification(shop, "PROCESSING", lease_expires_at=now - timedelta(seconds=5))
    notification(shop, "RECONCILING", attempt_count=1)
    notification(shop, "RECONCILING", channel="SMS", unconfirmed_at=now - timedelta(seconds=90))
    notification(shop, "SENT", finished_at=now)
    text = scrape(client)
    assert depth(text, "PENDING") == 2
    assert depth(text, "PENDING", "SMS", "HIGH") == 1
    assert depth(text, "PROCESSING") == 2
    assert depth(text, "RECONCILING") == depth(text, "RECONCILING", "SMS") == 1
    assert value(text, "notifyq_reconciling_oldest_age_seconds") == pytest.approx(90, abs=30)
    assert value(text, "notifyq_suspects") == 1
    assert value(text, "notifyq_leases_expired") == 1
    assert depth(text, "SENT") is None


@committed
def test_oldest_due__future_and_due_rows_of_all_priorities__is_the_oldest_due_one(client, shop):
    now = timezone.now()
    notification(shop, due_at=now - timedelta(seconds=50), priority=Priority.HIGH)
    notification(shop, due_at=now - timedelta(seconds=100), priority=Priority.LOW)
    notification(shop, due_at=now + timedelta(days=1))
    assert 100 <= value(scrape(client), "notifyq_oldest_due_age_seconds") < 130


@committed
def test_workers__one_role_alive_one_silent__counted_apart(client):
    for number in range(2):
        Worker.objects.create(id=f"d{number}", role="delivery", host="h", pid=1)
    Worker.objects.create(id="q", role="quarantine", host="h", pid=1)
    Worker.objects.filter(pk="q").update(beat_at=timezone.now() - timedelta(seconds=300))
    text = scrape(client)
    assert value(text, "notifyq_workers", role="delivery") == 2
    assert value(text, "notifyq_workers", role="quarantine") == 0
    assert value(text, "notifyq_worker_heartbeat_age_seconds", role="delivery") < 30
    assert value(text, "notifyq_worker_heartbeat_age_seconds", role="quarantine") >= 300


def test_metrics__of_one_page__are_few():
    """As the library took it: what has been counted before a change stays as it was counted."""
    assert 1 < len(conf.PROMETHEUS_LATENCY_BUCKETS) <= 7


@committed
def test_depth__more_rows_than_are_counted__is_the_planners_estimate(client, shop, monkeypatch):
    monkeypatch.setattr(queue_metrics, "COUNTED_MOST", 20)
    for _ in range(60):
        notification(shop)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE notifications_notification")
    assert 50 <= depth(scrape(client), "PENDING") <= 70


@committed
def test_metrics__queue_table_is_locked__the_rest_is_served(client, monkeypatch):
    monkeypatch.setattr(queue_metrics, "STATEMENT_SECONDS", 0.1)
    Worker.objects.create(id="w", role="delivery", host="h", pid=1)
    with psycopg.connect(**probe._parameters()) as other:
        other.execute("LOCK TABLE notifications_notification")
        text = scrape(client)
        other.rollback()
    assert value(text, "notifyq_scrape_failed") == 1
    assert value(text, "notifyq_workers", role="delivery") == 1
    assert depth(text, "PENDING") is None


def test_metrics__database_away__what_was_counted_is_served(client, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    real = probe._parameters()
    monkeypatch.setattr(probe, "_parameters", lambda: {**real, "host": "127.0.0.1", "port": port})
    text = scrape(client)
    assert value(text, "notifyq_scrape_failed") == 1
    assert "django_http_requests_before_middlewares_total" in text


@committed
def test_metrics__files_of_processes_unreadable__the_queue_is_served(client, monkeypatch, tmp_path):
    (tmp_path / "counter_x-1.db").write_bytes(b"")
    monkeypatch.setenv(process_metrics.VARIABLE, str(tmp_path))
    monkeypatch.setattr(process_metrics, "_host", "testunreadable")
    text = scrape(client)
    assert value(text, "notifyq_scrape_failed") == 0


@committed
def test_metrics__scraped_twice_at_once__the_database_is_asked_once(client, monkeypatch):
    scrape(client)
    monkeypatch.setattr(queue_metrics, "_read_all", lambda: pytest.fail("asked again"))
    assert "notifyq_queue_depth" in client.get("/metrics").content.decode()


@pytest.mark.parametrize(
    ("header", "status"),
    [(None, 401), ("Bearer wrong", 401), ("Bearer geheimñ", 401), ("Basic right", 401), ("Bearer right", 200)],
)
def test_metrics__token_set__only_its_bearer_reads(client, settings, monkeypatch, header, status):
    monkeypatch.setattr(metrics_view, "_queued", lambda: b"")
    settings.NOTIFYQ = dataclasses.replace(settings.NOTIFYQ, metrics_token="right")
    response = client.get("/metrics", headers={"Authorization": header} if header else {})
    assert response.status_code == status
    assert (b"notifyq" in response.content) is False or status == 200


@committed
def test_depth__more_parked_than_are_counted__is_the_planners_estimate(client, shop, monkeypatch):
    monkeypatch.setattr(queue_metrics, "COUNTED_MOST", 20)
    for _ in range(60):
        notification(shop, parked_by=uuid4())
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE notifications_notification")
    text = scrape(client)
    assert 50 <= value(text, "notifyq_parked") <= 70
    assert 50 <= depth(text, "PENDING") <= 70


@committed
def test_depth__counting_takes_long__fewer_are_counted(client, shop, monkeypatch):
    monkeypatch.setattr(queue_metrics, "COUNTING_SECONDS", 0.0)
    monkeypatch.setattr(queue_metrics, "COUNTED_LEAST", 20)
    monkeypatch.setattr(queue_metrics, "_estimate", lambda looking, where, values: 77)
    for _ in range(30):
        notification(shop)
    assert depth(scrape(client), "PENDING") == 77


@committed
def test_depth__table_never_analyzed__is_what_a_sample_says(client, shop, monkeypatch):
    monkeypatch.setattr(queue_metrics, "COUNTED_MOST", 20)
    monkeypatch.setattr(queue_metrics, "_estimate", lambda looking, where, values: 1)
    for number in range(60):
        notification(shop, parked_by=uuid4() if number % 2 else None)
    text = scrape(client)
    assert (depth(text, "PENDING"), value(text, "notifyq_parked")) == (60, 30)  # of all its few pages


@committed
@pytest.mark.parametrize("analyzed", [True, False])
def test_plans__big_table_mostly_finished__each_statement_uses_its_index(shop, analyzed):
    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE notifications_notification CASCADE")  # and what was known of it
        cursor.execute(FILL, [shop.pk])
        if analyzed:
            cursor.execute("ANALYZE notifications_notification")
    cell = {"channel": "EMAIL", "priority": 1}
    values: dict[str, Any] = {**queue_metrics.PRIORITIES, **cell, "most": queue_metrics.COUNTED_MOST}
    for statement, index in (
        (queue_metrics.WAITING, "notification_claim_channel"),
        (counting.OLDEST_DUE, "notification_claim"),
        (queue_metrics.PROCESSING, "notification_lease"),
        (queue_metrics.SUSPECT, "notification_suspect"),
        (queue_metrics.PARKED, "notification_parked"),
        (queue_metrics.RECONCILING, "notification_undelivered"),
    ):
        with probe.probe(60.0) as looking:
            plan = "\n".join(row[0] for row in looking.rows("EXPLAIN " + statement, values, seconds=60.0))
        assert re.search(rf"\b{index}\b", plan), plan
        assert "Seq Scan on notifications_notification" not in plan
        assert "Sort Key: notifications_notification.due_at" not in plan


FILL = """
INSERT INTO notifications_notification
       (id, status, client_id, idempotency_key, fingerprint, channel, recipient, priority, send_at, max_attempts,
        on_unconfirmed, finished_at, due_at)
SELECT gen_random_uuid(), CASE WHEN g %% 10 = 0 THEN 'PENDING' ELSE 'SENT' END, %s, g::text, 'f',
       (ARRAY['EMAIL', 'SMS', 'PUSH'])[1 + g %% 3], 'a', g / 10 %% 3, now(), 6, 'RETRY',
       CASE WHEN g %% 10 > 0 THEN now() END, now() + (g %% 1000 - 500) * interval '1 s'
  FROM generate_series(1, 20000) AS g
"""
