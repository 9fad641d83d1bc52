"""The benchmarks work in a database of their own and leave nothing behind."""

import fcntl

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from notifyq.bench import rows, scratch

pytestmark = pytest.mark.django_db(transaction=True)


def databases():
    with connection.cursor() as cursor:
        cursor.execute("SELECT datname FROM pg_database WHERE datname LIKE 'notifyq_bench_%'")
        return {name for (name,) in cursor.fetchall()}


@pytest.mark.usefixtures("alone")
def test_scratch_database__during_and_after__exists_and_is_gone():
    with scratch.scratch_database() as name:
        during = databases()

    assert name in during
    assert name not in databases()


@pytest.mark.usefixtures("alone")
def test_scratch_database__after_an_error_with_somebody_connected__is_gone():
    parameters = {k: v for k, v in connection.get_connection_params().items() if k not in ("cursor_factory", "context")}
    made: list[tuple[str, psycopg.Connection]] = []

    def fail_while_connected():
        with scratch.scratch_database() as name:
            made.append((name, psycopg.connect(**parameters | {"dbname": name})))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_while_connected()
    ((name, other),) = made
    other.close()

    assert name not in databases()


def test_rows__in_a_database_that_is_not_scratch__are_not_removed():
    with pytest.raises(RuntimeError, match="is not a scratch database"):
        rows.clear()


@pytest.fixture
def alone(tmp_path_factory):
    """Beside nobody else's benchmark: whose databases they are cannot be told."""
    with (tmp_path_factory.getbasetemp().parent / "bench.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # closing the file unlocks it
        yield


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize(
    ("measure", "figure"),
    [("deliver", "ratio"), ("claim", "ratio"), ("wakeup", "ratio"), ("breakers", "% of the computing")],
)
def test_bench__of_each_measure__tells_a_figure_and_leaves_no_database(measure, figure, capfd):
    before = databases()

    with pytest.raises(SystemExit) as end:
        call_command("bench", measure, "--count=20", "--rounds=1", "--batch-size=10", "--concurrency=2")

    out = capfd.readouterr().out
    assert end.value.code == 0
    assert f"{measure}" in out
    assert figure in out
    assert databases() == before


def test_bench__without_the_right_to_create_a_database__says_what_to_do(monkeypatch):
    with connection.cursor() as cursor:
        cursor.execute("DROP ROLE IF EXISTS notifyq_bench_poor")
        cursor.execute("CREATE ROLE notifyq_bench_poor LOGIN NOCREATEDB")
    plain = scratch._server

    def poor():
        server = plain()
        server.execute("SET ROLE notifyq_bench_poor")
        return server

    monkeypatch.setattr(scratch, "_server", poor)
    try:
        with pytest.raises(CommandError, match="Grant it CREATEDB"):
            call_command("bench", "deliver")
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DROP ROLE notifyq_bench_poor")
