"""Health checks: what they say, and that they answer whatever the database does."""

import dataclasses
import socket
import threading
import time
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from unittest.mock import Mock

import psycopg
import pytest
from django.db import connection
from django.utils import timezone

from notifications.models import Worker
from notifyq import health
from notifyq.runtime import probe

committed = pytest.mark.django_db(transaction=True)


@pytest.fixture
def beating():
    return Worker.objects.create(id="w1", role="delivery", host="h", pid=1)


def answer(client):
    began = time.monotonic()
    response = client.get("/health/ready")
    return response.status_code, response.json()["checks"], time.monotonic() - began


def send_to(monkeypatch, host, port):
    real = probe._parameters()
    monkeypatch.setattr(probe, "_parameters", lambda: {**real, "host": host, "port": port})


def test_live__no_database_allowed__answers(client):
    response = client.get("/health/live")
    assert (response.status_code, response.json()) == (200, {"status": "ok"})
    assert "no-store" in response["Cache-Control"]


@committed
def test_ready__all_well__answers_200_with_each_check(client, beating):
    status, checks, _ = answer(client)
    assert status == 200
    assert {name: check["ok"] for name, check in checks.items()} == dict.fromkeys(
        ("database", "migrations", "workers"), True
    )
    assert 0 <= checks["workers"]["heartbeatAgeSeconds"] < 30


@committed
def test_ready__no_worker__says_what_to_start(client):
    status, checks, _ = answer(client)
    assert status == 503
    assert "run_workers" in checks["workers"]["detail"]
    assert checks["database"]["ok"]


@committed
def test_ready__last_beat_is_old__says_how_old(client, beating):
    Worker.objects.update(beat_at=timezone.now() - timedelta(seconds=95))
    status, checks, _ = answer(client)
    assert status == 503
    assert "95 s" in checks["workers"]["detail"]


@committed
def test_ready__slow_poll__allows_three_polls_between_beats(client, beating, settings):
    settings.NOTIFYQ = dataclasses.replace(settings.NOTIFYQ, poll_seconds=60.0)
    Worker.objects.update(beat_at=timezone.now() - timedelta(seconds=95))
    assert answer(client)[0] == 200


@committed
def test_ready__worker_not_needed__answers_200_without_one(client, settings):
    settings.NOTIFYQ = dataclasses.replace(settings.NOTIFYQ, ready_needs_worker=False)
    status, checks, _ = answer(client)
    assert status == 200
    assert "workers" not in checks


@committed
def test_ready__migration_missing__names_it(client, beating):
    with connection.cursor() as cursor:
        cursor.execute("UPDATE django_migrations SET app = 'x' WHERE app = 'notifications' AND name LIKE '0001%'")
        try:
            status, checks, _ = answer(client)
        finally:
            cursor.execute("UPDATE django_migrations SET app = 'notifications' WHERE app = 'x'")
    assert status == 503
    assert "notifications.0001" in checks["migrations"]["detail"]
    assert "migrate" in checks["migrations"]["detail"]


@committed
def test_ready__table_missing__says_to_migrate(client, beating):
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE notifications_worker RENAME TO elsewhere")
        try:
            status, checks, _ = answer(client)
        finally:
            cursor.execute("ALTER TABLE elsewhere RENAME TO notifications_worker")
    assert status == 503
    assert "migrate" in checks["workers"]["detail"]


@committed
def test_ready__table_locked__answers_in_time(client, beating, monkeypatch):
    monkeypatch.setattr(health, "CHECK_SECONDS", 0.3)
    with psycopg.connect(**probe._parameters()) as other:
        other.execute("LOCK TABLE notifications_worker")
        status, _, seconds = answer(client)
        other.rollback()
    assert status == 503
    assert seconds < 2


def test_ready__database_away__says_so_without_naming_it(client, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    send_to(monkeypatch, "127.0.0.1", port)  # nobody listens there any more
    response = client.get("/health/ready")
    assert response.status_code == 503
    assert "DATABASE_URL" in response.json()["checks"]["database"]["detail"]
    assert "127.0.0.1" not in response.content.decode()


def test_ready__database_frozen_before_it_greets__answers_in_time(client, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as frozen:  # the kernel accepts, nobody speaks
        send_to(monkeypatch, "127.0.0.1", frozen.getsockname()[1])
        status, checks, seconds = answer(client)
    assert status == 503
    assert not checks["database"]["ok"]
    assert seconds < 5


@committed
def test_ready__database_freezes_under_a_statement__answers_in_time(client, beating, monkeypatch):
    monkeypatch.setattr(health, "CHECK_SECONDS", 0.3)
    with freezing_proxy() as (port, freeze):
        send_to(monkeypatch, "127.0.0.1", port)
        assert answer(client)[0] == 200  # the proxy works
        health._looker.forget()
        real_rows = probe.Probe.rows
        monkeypatch.setattr(probe.Probe, "rows", lambda *a, **k: (freeze(), real_rows(*a, **k))[1])
        status, _, seconds = answer(client)
    assert status == 503
    assert seconds < 3


@committed
def test_ready__asked_again_at_once__asks_the_database_once(client, beating, monkeypatch):
    looks = Mock(return_value=[])
    monkeypatch.setattr(health, "_look", looks)
    for _ in range(3):
        client.get("/health/ready")
    assert looks.call_count == 1


@pytest.mark.parametrize("path", ["/health/live", "/health/ready", "/metrics"])
def test_operations_address__post__is_refused(client, path):
    assert client.post(path).status_code == 405


@contextmanager
def freezing_proxy():
    """Forwards to the database until it is told to freeze: then the connections stay open and nothing gets through."""
    running = threading.Event()
    running.set()
    pairs: list[tuple[socket.socket, socket.socket]] = []

    def pump(source, sink):
        with suppress(OSError):
            while (data := source.recv(65536)) and running.is_set():
                sink.sendall(data)

    def serve():
        with suppress(OSError):
            while True:
                near, _ = listener.accept()
                far = _to_database()
                pairs.append((near, far))
                for ends in ((near, far), (far, near)):
                    threading.Thread(target=pump, args=ends, daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, daemon=True).start()
        try:
            yield listener.getsockname()[1], running.clear
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            for end in (end for pair in pairs for end in pair):
                with suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)  # closing alone would not wake the thread that reads from it
                end.close()


def _to_database():
    with psycopg.connect(**connection.get_connection_params()) as raw:
        host, port = raw.info.host, raw.info.port
    if not host.startswith("/"):
        return socket.create_connection((host, port))
    far = socket.socket(socket.AF_UNIX)
    far.connect(str(Path(host) / f".s.PGSQL.{port}"))
    return far
