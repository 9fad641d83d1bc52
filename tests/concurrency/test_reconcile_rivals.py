"""Those who may meet on a notification whose provider is being asked about it."""

from __future__ import annotations

from uuid import UUID, uuid4

import pytest
from django.db import transaction

from notifications import outcome, queue
from notifications.channel import Channel
from notifications.models import Notification
from notifications.outcome import Decision
from notifications.providers.base import FoundBy, Lookup
from notifications.queue import AttemptRecord, Claimed, Ending, LookUpRecord, Start
from notifications.queue.rescue import Safety
from notifications.status import Status
from notifications.verdict import Finding, Found, Outcome
from tests.support.askable import Askable, in_doubt, reconciler, said
from tests.support.rivals import Rival, run_together
from tests.support.rows import add, all_are, attempts_of, claim, move

pytestmark = pytest.mark.django_db(transaction=True)

WORKER = "worker"
ASKERS = 6


def _safety(channel: Channel, recipient: str, provider: str) -> Safety:
    return Safety("p", records_start=True, repeat_window_seconds=None, lookup=Lookup(FoundBy.KEY, 0.0, 3600.0))


def _rescue() -> list[UUID]:
    return [r.ending.id for r in queue.rescue(_safety, worker_ids=[WORKER])]


def _begun() -> Claimed:
    """One notification under a lease, its send begun."""
    add()
    [row] = claim(worker_id=WORKER, lease_seconds=60)
    queue.start_sends([Start(row.id, row.token, "p", 1.0)])
    return row


def _accepted(row: Claimed) -> Ending:
    record = AttemptRecord(1, 1, 1, "p", Outcome.ACCEPTED, "", "", "m-1", 1.0, 0.0, WORKER)
    return Ending(row.id, row.token, Decision(Status.SENT, provider="p", provider_message_id="m-1"), (record,))


def _take(token: UUID) -> list[UUID]:
    return [a.id for a in queue.take_askings("p", 10, worker_id="asker", token=token, lease_seconds=60)]


def _said(identity: UUID, token: UUID, status: Status, found: Found) -> Ending:
    decision = Decision(status, provider="p" if status is Status.SENT else "", wait_seconds=0.0)
    return Ending(identity, token, decision, asked=LookUpRecord(1, "p", found))


def _status() -> str:
    return Notification.objects.get().status


def test_reconcilers__many_at_once__ask_about_each_once() -> None:
    ids = in_doubt(60)
    vendor = Askable(lambda message: Finding.accepted(f"m-{message.id}"))
    run_together([reconciler(vendor, worker_id=f"asker {n}").run_pass for n in range(ASKERS)])
    assert vendor.asked == dict.fromkeys(ids, 1)
    assert all_are(Status.SENT, 60)
    assert {tuple(said(identity)) for identity in ids} == {(("ACCEPTED", "", 1),)}


def test_rescue_then_settle__the_stopped_workers_late_word_is_stale_and_its_provider_is_asked() -> None:
    row = _begun()
    with transaction.atomic():
        assert _rescue() == [row.id]
        settle = Rival(lambda: queue.settle([_accepted(row)])).start().wait_until_blocked_by_me()
    assert settle.result() == []
    assert (_status(), attempts_of(row.id)) == (Status.RECONCILING, [(1, "LOST", "lost")])
    assert Notification.objects.get().suspect
    assert dict(reconciler(Askable(Finding.accepted("m-1"))).run_pass().became) == {"SENT": 1}
    assert queue.settle([_accepted(row)]) == []


def test_settle_then_rescue__nothing_is_left_to_ask_about() -> None:
    row = _begun()
    with transaction.atomic():
        assert len(queue.settle([_accepted(row)])) == 1
        assert Rival(_rescue).start().result() == []
    assert _rescue() == []
    assert queue.providers_in_doubt() == []


def test_asking_then_rescue__the_row_is_no_workers_to_lose() -> None:
    [wanted] = in_doubt()
    token = uuid4()
    assert _take(token) == [wanted]
    assert queue.rescue(_safety, worker_ids=["asker"]) == []
    assert queue.rescue(_safety) == []
    assert len(queue.settle_askings([_said(wanted, token, Status.SENT, Found.ACCEPTED)])) == 1


def test_take_then_take__the_second_passes_it_over() -> None:
    [wanted] = in_doubt()
    with transaction.atomic():
        assert _take(uuid4()) == [wanted]
        assert Rival(lambda: _take(uuid4())).start().result() == []
    assert _take(uuid4()) == []


def test_settle_then_take__the_second_passes_it_over() -> None:
    [wanted] = in_doubt()
    token = uuid4()
    _take(token)
    move(wanted, due_at=-1)
    with transaction.atomic():
        assert len(queue.settle_askings([_said(wanted, token, Status.SENT, Found.ACCEPTED)])) == 1
        assert Rival(lambda: _take(uuid4())).start().result() == []
    assert _take(uuid4()) == []


def test_take_then_settle__the_first_askers_answer_waits_and_is_stale() -> None:
    [wanted] = in_doubt()
    first, second = uuid4(), uuid4()
    _take(first)
    move(wanted, due_at=-1)
    with transaction.atomic():
        assert _take(second) == [wanted]
        late = Rival(lambda: queue.settle_askings([_said(wanted, first, Status.PENDING, Found.ABSENT)]))
        late.start().wait_until_blocked_by_me()
    assert late.result() == []
    assert (_status(), said(wanted)) == (Status.RECONCILING, [])


def test_absent_then_claimed__a_late_answer_of_another_asker_does_not_touch_the_new_send() -> None:
    [wanted] = in_doubt()
    first, second = uuid4(), uuid4()
    _take(first)
    move(wanted, due_at=-1)
    _take(second)
    assert len(queue.settle_askings([_said(wanted, second, Status.PENDING, Found.ABSENT)])) == 1
    [row] = claim()
    assert row.id == wanted
    assert queue.settle_askings([_said(wanted, first, Status.SENT, Found.ACCEPTED)]) == []
    assert queue.settle_askings([_said(wanted, row.token, Status.SENT, Found.ACCEPTED)]) == []
    assert _status() == Status.PROCESSING


def test_settle_askings__of_one_that_is_held_for_a_send__changes_nothing_and_the_other_way_round() -> None:
    row = _begun()
    assert queue.settle_askings([_said(row.id, row.token, Status.SENT, Found.ACCEPTED)]) == []
    assert queue.release([Ending(row.id, row.token, outcome.given_back(row.standing))]) == 1
    Notification.objects.update(status=Status.RECONCILING, unconfirmed_provider="p")
    token = uuid4()
    assert _take(token) == [row.id]
    assert queue.settle([Ending(row.id, token, Decision(Status.SENT))]) == []
    assert queue.abandon([token]) == 0
    assert _status() == Status.RECONCILING


def test_asking_then_cancel__cancel_is_told_no_at_once() -> None:
    [wanted] = in_doubt()
    with transaction.atomic():
        assert _take(uuid4()) == [wanted]
        assert Rival(lambda: queue.cancel(wanted)).start().result() is False
        assert Rival(queue.expire).start().result().total() == 0
    assert _status() == Status.RECONCILING
