"""Each ordered pair of acts that may meet on one row: the first holds its transaction open, the second comes.

What waits is proved to wait by asking PostgreSQL, what passes over is proved to return while the first is still open.
"""

from __future__ import annotations

import random
from uuid import UUID, uuid4

import pytest
from django.db import transaction

from notifications import outcome, queue
from notifications.channel import Channel
from notifications.models import Attempt, Notification
from notifications.queue import AttemptRecord, Claimed, Ending, Start
from notifications.queue.rescue import Safety
from notifications.retry import Backoff
from notifications.status import Status
from notifications.verdict import Outcome, Verdict
from tests.support.rivals import Rival
from tests.support.rows import add, attempts_of, claim, database_now, move
from tests.support.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

WORKER = "worker"


def _safety(channel: Channel, recipient: str, provider: str) -> Safety:
    return Safety(provider or "sandbox", records_start=True, repeat_window_seconds=3600.0)


def _held() -> Claimed:
    """One notification under a lease of a minute."""
    add()
    [row] = claim(worker_id=WORKER, limit=1, lease_seconds=60)
    return row


def _accepted(row: Claimed) -> Ending:
    decision = outcome.after_verdict(
        row.standing,
        Verdict.accepted("m-1"),
        provider="sandbox",
        may_send_again=True,
        backoff=Backoff(1, 60),
        dice=random.Random(0),
    )
    record = AttemptRecord(
        1, row.standing.attempt_number, 1, "sandbox", Outcome.ACCEPTED, "", "", "m-1", 1.0, 0.0, WORKER
    )
    return Ending(row.id, row.token, decision, (record,))


def _given_back(row: Claimed) -> Ending:
    return Ending(row.id, row.token, outcome.given_back(row.standing))


def _rescue() -> list[UUID]:
    return [r.ending.id for r in queue.rescue(_safety, worker_ids=[WORKER])]


def _begin(row: Claimed) -> set[tuple[UUID, UUID]]:
    return queue.start_sends([Start(row.id, row.token, "sandbox", 1.0)])


def _status() -> str:
    return Notification.objects.get().status


def test_settle_then_rescue__rescue_passes_it_over_and_changes_nothing() -> None:
    row = _held()
    with transaction.atomic():
        assert len(queue.settle([_accepted(row)])) == 1
        assert Rival(_rescue).start().result() == []
    assert _rescue() == []
    assert (_status(), attempts_of(row.id)) == (Status.SENT, [(1, "ACCEPTED", "")])


def test_rescue_then_settle__settle_waits_and_is_stale() -> None:
    row = _held()
    _begin(row)
    with transaction.atomic():
        assert _rescue() == [row.id]
        settle = Rival(lambda: queue.settle([_accepted(row)])).start().wait_until_blocked_by_me()
    assert settle.result() == []
    assert (_status(), attempts_of(row.id)) == (Status.PENDING, [(1, "LOST", "lost")])


def test_release_then_rescue__rescue_passes_it_over_and_changes_nothing() -> None:
    row = _held()
    with transaction.atomic():
        assert queue.release([_given_back(row)]) == 1
        assert Rival(_rescue).start().result() == []
    assert _rescue() == []
    found = Notification.objects.get()
    assert (found.status, found.attempt_count, found.suspect) == (Status.PENDING, 0, False)


def test_rescue_then_release__release_waits_and_is_stale() -> None:
    row = _held()
    with transaction.atomic():
        assert _rescue() == [row.id]
        release = Rival(lambda: queue.release([_given_back(row)])).start().wait_until_blocked_by_me()
    assert release.result() == 0
    found = Notification.objects.get()
    assert (found.status, found.attempt_count, found.suspect) == (Status.PENDING, 0, True)


def test_rescue_then_rescue__the_second_passes_it_over_and_one_loss_is_recorded() -> None:
    row = _held()
    _begin(row)
    with transaction.atomic():
        assert _rescue() == [row.id]
        assert Rival(_rescue).start().result() == []
    assert _rescue() == []
    assert attempts_of(row.id) == [(1, "LOST", "lost")]


def test_expire_then_claim__claim_passes_it_over() -> None:
    [row_id] = add()
    move(row_id, expires_at=-1)
    with transaction.atomic():
        assert queue.expire().total() == 1
        assert Rival(lambda: claim(worker_id=WORKER, limit=1, lease_seconds=60)).start().result() == []
    assert claim(worker_id=WORKER, limit=1, lease_seconds=60) == []
    assert _status() == Status.EXPIRED


def test_claim_then_expire__its_time_ends_meanwhile__expire_leaves_what_is_held_alone() -> None:
    [row_id] = add()
    move(row_id, expires_at=0.3)
    expires_at = Notification.objects.get().expires_at
    with transaction.atomic():
        assert len(claim(worker_id=WORKER, limit=1, lease_seconds=60)) == 1
        wait_until(lambda: database_now() > expires_at, 5, "its time to live is over")
        assert Rival(queue.expire).start().result().total() == 0
    assert queue.expire().total() == 0
    assert _status() == Status.PROCESSING


def test_expire_then_cancel__cancel_waits_and_is_told_no() -> None:
    [row_id] = add()
    move(row_id, expires_at=-1)
    with transaction.atomic():
        assert queue.expire().total() == 1
        cancel = Rival(lambda: queue.cancel(row_id)).start().wait_until_blocked_by_me()
    assert cancel.result() is False
    assert _status() == Status.EXPIRED


def test_cancel_then_expire__expire_passes_it_over() -> None:
    [row_id] = add()
    move(row_id, expires_at=-1)
    with transaction.atomic():
        assert queue.cancel(row_id) is True
        assert Rival(queue.expire).start().result().total() == 0
    assert queue.expire().total() == 0
    assert _status() == Status.CANCELLED


def test_start_sends_then_rescue__rescue_passes_it_over_and_later_knows_that_it_was_begun() -> None:
    row = _held()
    with transaction.atomic():
        assert _begin(row) == {(row.id, row.token)}
        assert Rival(_rescue).start().result() == []
    assert _rescue() == [row.id]
    assert attempts_of(row.id) == [(1, "LOST", "lost")]
    assert Notification.objects.get().unconfirmed_provider == "sandbox"


def test_rescue_then_start_sends__the_start_waits_and_the_send_may_not_begin() -> None:
    row = _held()
    with transaction.atomic():
        assert _rescue() == [row.id]
        start = Rival(lambda: _begin(row)).start().wait_until_blocked_by_me()
    assert start.result() == set()
    found = Notification.objects.get()
    assert (found.status, found.sending_provider, found.unconfirmed_provider) == (Status.PENDING, "", "")
    assert not Attempt.objects.exists()


def test_settle_then_the_same_settle__the_second_waits_and_leaves_no_history() -> None:
    row = _held()
    with transaction.atomic():
        assert len(queue.settle([_accepted(row)])) == 1
        again = Rival(lambda: queue.settle([_accepted(row)])).start().wait_until_blocked_by_me()
    assert again.result() == []
    assert attempts_of(row.id) == [(1, "ACCEPTED", "")]


def test_settle__with_the_token_of_an_older_claim__changes_nothing() -> None:
    row = _held()
    stale = Claimed(**{**{name: getattr(row, name) for name in row.__slots__}, "token": uuid4()})
    assert queue.settle([_accepted(stale)]) == []
    assert queue.release([_given_back(stale)]) == 0
    assert _begin(stale) == set()
    assert (_status(), attempts_of(row.id)) == (Status.PROCESSING, [])


def test_rescue__a_row_in_its_lease_whose_worker_lives__is_left_alone() -> None:
    row = _held()
    assert queue.rescue(_safety) == []
    move(row.id, lease_expires_at=-0.001)
    assert [r.ending.id for r in queue.rescue(_safety)] == [row.id]
