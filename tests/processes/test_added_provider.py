"""The page "adding a provider" carried out: real workers send through an adapter that this project knows nothing of."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from notifications.channel import Channel
from notifications.models import Notification
from notifications.status import Status
from tests.contracts.conformance import answering, http_answer
from tests.support.fault_server import FaultServer
from tests.support.pages import blocks
from tests.support.rows import add
from tests.support.workers import Fleet

pytestmark = [pytest.mark.processes, pytest.mark.django_db(transaction=True)]

PAGE = "adding-a-provider"


def test_run_workers__adapter_of_the_page__sends_once_and_keeps_the_vendors_id(tmp_path: Path) -> None:
    adapter, _ = blocks(PAGE, "python")
    (settings,) = blocks(PAGE, "sh")
    named = [line.removeprefix("export ") for line in settings.splitlines() if line.startswith("export ")]
    (tmp_path / "acme_pigeon.py").write_text(adapter, encoding="utf-8")
    (key,) = add(channel=Channel.SMS)
    with FaultServer(answering(http_answer(201, b'{"id": "p-1"}'), keep=True)) as pigeon_post:
        variables = dict(pair.split("=", 1) for pair in named)
        path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
        variables |= {"PYTHONPATH": path, "NOTIFYQ_PIGEON_URL": pigeon_post.url}
        fleet = Fleet(tmp_path, **variables)
        try:
            assert fleet.start("--drain", ready=0).wait() == 0
        finally:
            fleet.end()

    row = Notification.objects.get(pk=key)
    assert (row.status, row.last_used_provider, row.provider_message_id) == (Status.SENT, "pigeon", "p-1")
    (request,) = pigeon_post.requests
    assert f'"reference": "{key}"'.encode() in request
