"""The whole way: real workers, a real vendor that loses its answer and reports later, and one copy."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from notifications import receipts
from notifications.models import Notification, Receipt
from notifications.status import Status
from notifyq.env import Environment
from tests.support.rows import add, attempts_of
from tests.support.sandbox import SandboxProcess
from tests.support.waiting import wait_until
from tests.support.workers import Fleet

pytestmark = [pytest.mark.processes, pytest.mark.django_db(transaction=True)]

SECRETS = {"NOTIFYQ_SANDBOX_RECEIPT_SECRETS": "a-secret-of-the-test"}


@pytest.fixture
def reporting(tmp_path: Path, live_server: Any, settings: Any, monkeypatch: Any) -> Iterator[SandboxProcess]:
    """A vendor that reports what it has delivered to the API of this process."""
    settings.RECEIVERS = receipts.build((), Environment(SECRETS))
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    url = f"{live_server.url}/receipts/sandbox"
    with SandboxProcess(tmp_path / "sandbox.sqlite3", "--receipts-url", url) as process:
        yield process


def test_receipt__of_a_send_whose_answer_was_lost__proves_it_and_no_second_copy_goes_out(
    reporting: SandboxProcess, tmp_path: Path
) -> None:
    [lost] = add(recipient="accept-then-timeout@example.org")
    [plain] = add(recipient="ok@example.org")
    fleet = Fleet(
        tmp_path,
        NOTIFYQ_SANDBOX_URL=reporting.url,
        NOTIFYQ_SANDBOX_DEDUPE="false",
        NOTIFYQ_SANDBOX_LOOKUP="false",
        NOTIFYQ_SEND_TIMEOUT_SECONDS="1",
        NOTIFYQ_BACKOFF_BASE_SECONDS="60",
        NOTIFYQ_BACKOFF_MAX_SECONDS="60",
    )
    try:
        fleet.start()
        sent = Notification.objects.filter(status=Status.SENT, delivery_status="DELIVERED")
        wait_until(lambda: sent.count() == 2, 20, "both SENT and DELIVERED")
    finally:
        fleet.end()
    assert attempts_of(lost) == [(1, "UNCONFIRMED", "read_timeout")]
    assert attempts_of(plain) == [(1, "ACCEPTED", "")]
    assert reporting.stats() == (2, 2, 0)
    assert Receipt.objects.count() == 2
    message_ids = {m["key"]: m["messageId"] for m in reporting.messages()}
    assert Notification.objects.get(pk=lost).provider_message_id == message_ids[str(lost)]
