"""A claim whose commit succeeded but whose answer was lost: nobody knows of the rows, and they must not wait long."""

import pytest
from django.db import OperationalError

from notifications import queue
from notifications.channel import Channel
from notifications.delivery.worker import Worker
from notifications.models import Notification
from notifications.outcome import given_back
from notifications.providers.chains import Chain
from notifications.status import Status
from tests.integration.test_claim_bounds import OPTIONS, Counting
from tests.support.rows import add, claim

pytestmark = pytest.mark.django_db(transaction=True)


def a_worker():
    return Worker("worker", OPTIONS, dict.fromkeys(Channel, Chain((Counting(),))))


def test_claim__its_answer_is_lost_after_the_commit__the_next_round_gives_the_rows_back(monkeypatch):
    add(3)
    worker = a_worker()

    def claims_and_loses_the_answer(claimer, limit, **more):
        really(claimer, limit, **more)
        raise OperationalError("server closed the connection unexpectedly")

    really = queue.claim
    monkeypatch.setattr(queue, "claim", claims_and_loses_the_answer)
    with pytest.raises(OperationalError):
        worker.claim_once()
    assert Notification.objects.filter(status=Status.PROCESSING).count() == 3

    worker._abandon_unsure()

    assert set(Notification.objects.values_list("status", "attempt_count", "suspect")) == {(Status.PENDING, 0, False)}


def test_abandon__of_a_claim_that_somebody_holds_by_now__leaves_it_alone():
    add(1)
    [lost] = claim(worker_id="first")
    queue.release([queue.Ending(lost.id, lost.token, given_back(lost.standing))])
    [held] = claim(worker_id="second")

    assert queue.abandon([lost.token]) == 0
    assert Notification.objects.get().claim_token == held.token
