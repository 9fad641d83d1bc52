"""Bulk redeliveries with several workers at once, and against a dispatcher or a person who holds an event."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import transaction

from notifications import queue
from notifications.models import BulkStatus
from notifications.queue import Act
from tests.support.bulk import OPERATOR, let_pass, work_to_the_end
from tests.support.rivals import Rival, run_together
from tests.support.rows import database_now
from tests.support.webhook_rows import an_endpoint, some_events
from webhooks import services
from webhooks.models import Redelivery, WebhookEvent
from webhooks.queue import EventSelection
from webhooks.status import EventStatus

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _no_wakeup(monkeypatch):
    monkeypatch.setattr("webhooks.queue.wake.notify", lambda channel: None)


def begin():
    act, _ = queue.begin_bulk(
        EventSelection(),
        Act(OPERATOR, "their server is back"),
        form_id=uuid4(),
        cutoff=database_now() + timedelta(seconds=1),
        rate_per_second=1000,
        previewed_count=None,
    )
    let_pass(act, 1.0)
    return act


def test_work_off__several_workers_at_once__each_event_is_redelivered_once(monkeypatch):
    monkeypatch.setattr("notifications.queue.bulk.BATCH_MOST", 10)
    some_events(an_endpoint(), 40, status=EventStatus.FAILED)
    act = begin()

    def work():
        done = 0
        for _ in range(8):
            let_pass(act, 1.0)
            done += queue.work_off(2.0)
        return done

    done = run_together([work] * 3)
    work_to_the_end(act)

    assert (act.status, act.done_count) == (BulkStatus.DONE, 40)
    assert sum(done) <= 40
    assert set(WebhookEvent.objects.values_list("cycle", flat=True)) == {2}
    assert Redelivery.objects.count() == 40


def test_work_off__an_event_that_somebody_holds__is_taken_in_the_next_pass():
    first, second = some_events(an_endpoint(), 2, status=EventStatus.FAILED)
    act = begin()
    with transaction.atomic():
        WebhookEvent.objects.select_for_update(no_key=True).get(pk=first.pk)
        assert Rival(lambda: queue.work_off(2.0)).start().result() == 1
    act.refresh_from_db()
    assert (act.status, act.pass_number, act.missed_count) == (BulkStatus.RUNNING, 2, 0)
    assert WebhookEvent.objects.get(pk=second.pk).cycle == 2

    work_to_the_end(act)

    assert (act.status, act.done_count) == (BulkStatus.DONE, 2)


def test_work_off__while_a_person_redelivers_the_same_event__it_happens_once():
    [event] = some_events(an_endpoint(), 1, status=EventStatus.FAILED)
    act = begin()
    with transaction.atomic():
        services.redeliver(event.pk, None, actor=OPERATOR, reason="just this one")
        assert Rival(lambda: queue.work_off(2.0)).start().result() == 0

    work_to_the_end(act)

    assert (act.status, act.done_count) == (BulkStatus.DONE, 0)
    assert WebhookEvent.objects.get().cycle == 2
    assert Redelivery.objects.get().reason == "just this one"
