"""What people see of reconciliation: the command, the API, the console, the metrics."""

from __future__ import annotations

import re
import threading
from io import StringIO
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from prometheus_client import REGISTRY

from notifications import queue
from notifications.models import Notification
from notifications.providers import chains
from notifications.status import Status
from notifications.verdict import Finding
from tests.support.api import NOTIFICATIONS, Caller
from tests.support.askable import Askable, chains_of, in_doubt, reconciler
from tests.support.rows import move

pytestmark = pytest.mark.django_db


def _answers(monkeypatch: pytest.MonkeyPatch, vendor: Askable) -> None:
    monkeypatch.setattr(chains, "build", lambda *_: chains_of(vendor))


def _run() -> str:
    out = StringIO()
    call_command("reconcile", stdout=out)
    return out.getvalue()


def test_command__some_in_doubt__asks_about_each_once_and_says_so_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    ids = in_doubt(40)
    says = dict(zip(ids, [Finding.unknown("x"), Finding.absent(), Finding.rejected("y")], strict=False))
    vendor = Askable(lambda m: says.get(m.id, Finding.accepted("m")))
    _answers(monkeypatch, vendor)
    line = _run()
    assert line.startswith(
        "asked about 40: 37 ACCEPTED, 1 REJECTED, 1 ABSENT, 1 UNKNOWN; "
        "now 1 FAILED, 1 PENDING, 1 RECONCILING, 37 SENT; 1 waits, to be asked about from "
    )
    assert line.count("\n") == 1
    assert vendor.asked == dict.fromkeys(ids, 1)


def test_command__none_is_due__says_how_many_wait_and_until_when(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = "asked about 0: 0 ACCEPTED, 0 REJECTED, 0 ABSENT, 0 UNKNOWN"
    _answers(monkeypatch, Askable(Finding.accepted("m")))
    assert _run() == f"{nothing}\n"
    first, *_ = in_doubt(3)
    Notification.objects.filter(status=Status.RECONCILING).update(due_at="2100-01-02T00:00:00Z")
    Notification.objects.filter(pk=first).update(due_at="2100-01-01T00:00:00Z")
    assert _run() == f"{nothing}; 3 wait, the next to be asked about from 2100-01-01T00:00:00Z\n"


def test_command__wrong_settings__ends_with_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOTIFYQ_SANDBOX_DEDUPE", "perhaps")
    with pytest.raises(CommandError, match=re.escape("NOTIFYQ_SANDBOX_DEDUPE must be true or false")):
        _run()


def test_command__an_adapter_that_never_answers__ends_and_lets_others_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = threading.Event()
    [wanted] = in_doubt()
    asker = reconciler(Askable(lambda _: Finding.accepted("m") if go_on.wait(30) else Finding.absent()))
    monkeypatch.setattr(asker, "_lease_seconds", 0.2)
    asker._timeout_seconds = 0.1
    assert not asker.run_pass().found
    go_on.set()
    row = Notification.objects.get(pk=wanted)
    assert (row.status, row.claim_token, row.worker_id) == (Status.RECONCILING, None, "")
    assert queue.take_askings("p", 1, worker_id="another", token=uuid4(), lease_seconds=60)


def test_api__asked_about__shows_when_and_what_was_said(caller: Caller) -> None:
    [wanted] = in_doubt(client=caller.client)
    found = caller.get(f"{NOTIFICATIONS}/{wanted}").json()
    assert (found["status"], found["reconciledAt"], found["lookUps"]) == ("RECONCILING", None, [])
    vendor = Askable(Finding.unknown("http_503", "answered 503"))
    reconciler(vendor).run_pass()
    move(wanted, due_at=-1)
    reconciler(vendor).run_pass()
    vendor.says = Finding.accepted("m-1")
    move(wanted, due_at=-1)
    reconciler(vendor).run_pass()
    found = caller.get(f"{NOTIFICATIONS}/{wanted}").json()
    assert (found["status"], found["provider"], found["providerMessageId"]) == ("SENT", "p", "m-1")
    assert found["reconciledAt"] == found["finishedAt"] == found["lookUps"][1]["lastAskedAt"]
    shown = [{name: value for name, value in entry.items() if not name.endswith("At")} for entry in found["lookUps"]]
    assert shown == [
        {
            "cycle": 1,
            "provider": "p",
            "found": "UNKNOWN",
            "errorCode": "http_503",
            "errorMessage": "answered 503",
            "askedCount": 2,
        },
        {
            "cycle": 1,
            "provider": "p",
            "found": "ACCEPTED",
            "errorCode": None,
            "errorMessage": None,
            "askedCount": 1,
        },
    ]
    listed = caller.get().json()["results"]
    assert [entry["reconciledAt"] for entry in listed] == [found["reconciledAt"]]


def test_console__asked_about__shows_what_was_said(client: Client) -> None:
    [wanted] = in_doubt()
    reconciler(Askable(Finding.unknown("http_503", "answered 503"))).run_pass()
    client.force_login(User.objects.create_superuser("ada"))
    page = client.get(reverse("admin:notifications_notification_change", args=[wanted])).content.decode()
    assert "UNKNOWN" in page
    assert "answered 503" in page


def test_metrics__answers__are_counted_by_provider_and_kind() -> None:
    labels = {"provider": "counted", "found": "ABSENT"}
    in_doubt(3, provider="counted")
    reconciler(Askable(Finding.absent(), "counted")).run_pass()
    assert REGISTRY.get_sample_value("notifyq_look_ups_total", labels) == 3
