"""The kill switch on real workers."""

from __future__ import annotations

import pytest

from notifications import services
from notifications.channel import Channel
from notifications.models import Attempt, Notification, Pause
from notifications.status import Status, WaitingReason
from tests.support.rows import add, all_are
from tests.support.sandbox import Sandbox
from tests.support.waiting import wait_until
from tests.support.workers import Fleet

pytestmark = [pytest.mark.processes, pytest.mark.django_db(transaction=True)]


def _paused_count() -> int:
    return Notification.objects.filter(waiting_reason=WaitingReason.PAUSED).count()


def test_pause__in_the_middle_of_a_backlog__stops_it_at_once_and_resume_sends_each_once(
    fleet: Fleet, sandbox: Sandbox
) -> None:
    sandbox.set_weather(latencyMs=50)
    first = fleet.start("--processes", "2", "--concurrency", "4")
    ids = add(400)
    wait_until(lambda: sandbox.stats()[1] >= 40, 30, "some are sent")
    paused, _ = services.pause("CHANNEL", "EMAIL", by="a test")
    [other] = add(channel=Channel.SMS)

    wait_until(lambda: Notification.objects.get(pk=other).status == Status.SENT, 30, "another channel goes on")
    wait_until(
        lambda: not Notification.objects.exclude(status=Status.SENT).exclude(waiting_reason="PAUSED").exists(),
        30,
        "all others are parked",
    )
    accepted = sandbox.stats()[1]
    assert 0 < _paused_count() == 401 - accepted

    assert first.stop() == 0
    fleet.start("--processes", "2", "--concurrency", "4")  # it survives a restart
    [late] = add()
    wait_until(lambda: Notification.objects.get(pk=late).waiting_reason == "PAUSED", 30, "a new one is parked too")
    assert sandbox.stats()[1] == accepted

    services.resume(paused.pk, by="a test")
    wait_until(lambda: all_are(Status.SENT, 402), 40, "all are SENT")
    assert sandbox.stats()[1:] == (402, 0)
    assert {m["key"] for m in sandbox.messages()} >= {str(i) for i in ids}
    assert Attempt.objects.count() == 402
    assert set(Notification.objects.values_list("attempt_count", flat=True)) == {1}
    wait_until(lambda: not Pause.objects.exists(), 30, "nothing is left of the pause")


def test_pause__of_the_first_provider__sends_through_the_second(fleet: Fleet, sandbox: Sandbox) -> None:
    chain = {"NOTIFYQ_EMAIL_PROVIDERS": "sandbox:a,sandbox:b"}
    urls = {f"NOTIFYQ_SANDBOX_{label}_URL": sandbox.url for label in "AB"}
    Pause.objects.create(scope="PROVIDER", value="sandbox:a", created_by="a test")
    fleet.start(**chain, **urls)
    add(5)

    wait_until(lambda: all_are(Status.SENT, 5), 30, "all are SENT")

    assert set(Attempt.objects.values_list("provider", flat=True)) == {"sandbox:b"}
