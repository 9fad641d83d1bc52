"""The database goes away under load: the workers stay, and go on where they were."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.postgres import Postgres, scratch_postgres
from tests.support.sandbox import Sandbox
from tests.support.waiting import wait_until
from tests.support.workers import Fleet

pytestmark = [pytest.mark.processes, pytest.mark.django_db]

COUNT = 500
INSERT = """
WITH client AS (
  INSERT INTO notifications_client (id, name, smtp_url_encrypted, email_from)
  VALUES (gen_random_uuid(), 'client', '', '') RETURNING id
), row AS (
  INSERT INTO notifications_notification (id, status, client_id, idempotency_key, fingerprint, channel, recipient,
    send_at, max_attempts, on_unconfirmed)
  SELECT gen_random_uuid(), 'PENDING', client.id, n::text, '', 'EMAIL', 'ada@example.org', now(), 6, 'RETRY'
  FROM client, generate_series(1, %s) n RETURNING id
)
INSERT INTO notifications_content (notification_id, body, subject, html_body, from_name, reply_to, collapse_key, data,
  metadata)
SELECT id, 'How are you?', '', '', '', '', '', '{}', '{}' FROM row
"""


def _sent(server: Postgres) -> int:
    return int(server.rows("SELECT count(*) FROM notifications_notification WHERE status = 'SENT'")[0][0])


def test_run_workers__the_database_crashes_under_load__the_same_processes_finish_the_work(
    tmp_path: Path, sandbox: Sandbox
) -> None:
    sandbox.set_weather(latencyMs=30)
    fleet = Fleet(tmp_path, NOTIFYQ_SANDBOX_URL=sandbox.url)
    with scratch_postgres() as server:
        try:
            workers = fleet.start(
                *("--processes", "2", "--concurrency", "4"),
                DATABASE_URL=server.url,
                NOTIFYQ_LEASE_SECONDS="4",
                NOTIFYQ_SEND_TIMEOUT_SECONDS="1",
            )
            pids = workers.child_pids()
            server.rows(INSERT, COUNT)
            for reached in (50, 200):
                wait_until(lambda: _sent(server) >= reached, 30, f"{reached} SENT")  # noqa: B023 (called at once)
                server.restart("immediate")
            wait_until(lambda: _sent(server) == COUNT, 60, "all SENT")
            assert workers.child_pids() == pids
            assert not workers.events("worker_died")
            assert workers.events("database_unavailable")  # else it was not noticed at all
            assert sandbox.stats()[1] == COUNT
            assert workers.stop() == 0
        finally:
            fleet.end()
