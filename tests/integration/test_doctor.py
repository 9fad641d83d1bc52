"""The doctor on a real database, well and ill."""

from contextlib import contextmanager
from datetime import timedelta
from io import StringIO

import psycopg
import pytest
from django.core.management import call_command
from django.db import connection
from django.db.models.functions import Now

from notifications.models import Notification, Worker
from notifyq.doctor import Level, examine, server

pytestmark = pytest.mark.django_db(transaction=True)


def found(name):
    return next(f for f in examine() if f.name == name)


@contextmanager
def without_index(name):
    index = next(i for i in Notification._meta.indexes if i.name == name)
    with connection.schema_editor() as editor:
        editor.remove_index(Notification, index)
    try:
        yield
    finally:
        with connection.schema_editor() as editor:
            editor.add_index(Notification, index)


def run():
    out = StringIO()
    try:
        call_command("doctor", stdout=out)
    except SystemExit as end:
        return end.code, out.getvalue()
    return 0, out.getvalue()


def test_doctor__of_a_sound_installation__fails_nothing_and_exits_with_0(settings):
    settings.SECRET_KEY = "x" * 50
    Worker.objects.create(id="w", role="delivery", host="h", pid=1)

    code, report = run()

    assert code == 0, report
    assert "OK    indexes: " in report
    assert "OK    workers: 1 for delivery" in report


def test_doctor__when_something_fails__exits_with_1(settings):
    settings.SECRET_KEY = "not-secret-no-entry-point-was-used"

    code, report = run()

    assert code == 1
    assert "FAIL  secret key: " in report


def test_indexes__one_missing__fails_by_name():
    with without_index("notification_claim"):
        finding = found("indexes")

    assert finding.level is Level.FAIL
    assert "missing: notification_claim." in finding.text


def test_indexes__one_invalid__fails_by_name():
    mark = "UPDATE pg_index SET indisvalid = %s WHERE indexrelid = 'notification_claim'::regclass"
    with connection.cursor() as cursor:
        cursor.execute(mark, [False])
    try:
        finding = found("indexes")
    finally:
        with connection.cursor() as cursor:
            cursor.execute(mark, [True])

    assert finding.level is Level.FAIL
    assert "invalid: notification_claim." in finding.text


def test_transaction__open_for_long__is_warned_of(monkeypatch):
    monkeypatch.setattr("notifyq.doctor.queue.TRANSACTION_AGE_MOST_SECONDS", 0.0)
    parameters = {k: v for k, v in connection.get_connection_params().items() if k not in ("cursor_factory", "context")}
    with psycopg.connect(**parameters) as other:
        other.execute("SELECT 1")
        pid = other.info.backend_pid
        finding = found("open transactions")

    assert finding.level is Level.WARN
    assert f"backend {pid} (idle in transaction)" in finding.text


def test_workers__silent_for_long__count_as_dead():
    Worker.objects.create(id="w", role="delivery", host="h", pid=1)
    Worker.objects.update(beat_at=Now() - timedelta(minutes=10))

    assert found("workers").level is Level.WARN


def test_migration__not_applied__fails():
    with connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM django_migrations WHERE name = '0002_tune_queue_tables' RETURNING id, app, name, applied"
        )
        (row,) = cursor.fetchall()
    try:
        finding = found("migrations")
    finally:
        with connection.cursor() as cursor:
            cursor.execute("INSERT INTO django_migrations VALUES (%s, %s, %s, %s)", row)

    assert finding.level is Level.FAIL
    assert "notifications.0002_tune_queue_tables" in finding.text


def test_wakeup__that_reaches_nobody__is_warned_of(monkeypatch):
    # A pooler hands the LISTEN to one backend and the NOTIFY's answer to another; here it is not listened for at all.
    monkeypatch.setattr(server, "_echo_comes_back", lambda: False)

    assert found("wake-up").level is Level.WARN


def test_database__that_is_away__is_one_failure(monkeypatch, unused_tcp_port):
    monkeypatch.setitem(connection.settings_dict, "HOST", "127.0.0.1")
    monkeypatch.setitem(connection.settings_dict, "PORT", str(unused_tcp_port))

    last = list(examine())[-1]

    assert (last.level, last.name) == (Level.FAIL, "database")
    assert "no connection" in last.text


@pytest.fixture
def unused_tcp_port():
    """A port on which nobody listens, kept bound for as long as the test takes."""
    import socket

    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]
