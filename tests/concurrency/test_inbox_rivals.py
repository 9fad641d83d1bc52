"""Who meets whom over inboxes: a push that brings its copy along and whatever else may happen to that copy, two that
make an entry, and those that mark entries as read. In each pair the first holds its transaction open."""

from __future__ import annotations

from uuid import UUID

import pytest
from django.db import transaction
from django.db.models.functions import Now

from notifications import inbox, queue, services
from notifications.channel import Channel
from notifications.models import Client, InboxEntry, Notification
from notifications.queue import copies
from notifications.queue.copies import deliver_copies
from notifications.status import Status
from notifications.verdict import Verdict
from tests.support.inboxes import accepted, bodies, claim_push, deliver, ending, entry_ids, events, push_with_copy
from tests.support.inboxes import status as status_of
from tests.support.rivals import PATIENT_SECONDS, Rival, run_together
from tests.support.rows import a_client, attempts_of, claim
from tests.support.webhook_rows import an_endpoint

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("patient")]

GONE = Verdict.rejected("unregistered")


@pytest.fixture
def client() -> Client:
    client = a_client()
    an_endpoint(client=client, events=["SENT", "FAILED", "CANCELLED", "EXPIRED"])
    return client


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine even a moment may last."""
    monkeypatch.setattr(copies, "WAIT_SECONDS", PATIENT_SECONDS)


def _group(push: UUID) -> list[UUID]:
    group = Notification.objects.get(pk=push).group_id
    return [] if group is None else [group]


def _settles_gone() -> Rival:
    """A push that lost its device; it is claimed by now."""
    gone = ending(claim_push(), GONE)
    return Rival(lambda: queue.settle([gone]))


def _sent_once(copy: UUID) -> None:
    assert (status_of(copy), entry_ids()) == (Status.SENT, [copy])
    assert [e["status"] for e in events(copy)] == ["SENT"]
    assert [outcome for _, outcome, _ in attempts_of(copy)] == ["ACCEPTED"]


def test_claim_then_push__push_waits_and_brings_the_copy_along(client: Client) -> None:
    push, copy = push_with_copy(client)
    settle = _settles_gone()
    with transaction.atomic():
        [held] = claim(channels=[Channel.IN_APP])
        settle.start().wait_until_blocked_by_me()
    settle.result()

    assert queue.settle([accepted(held)]) == []
    assert status_of(push) == Status.SENT
    _sent_once(copy)


def test_push_then_claim__claim_passes_over_the_copy(client: Client) -> None:
    push, copy = push_with_copy(client)
    group = _group(push)
    with transaction.atomic():
        assert deliver_copies(group, worker_id="w") == set(group)
        assert Rival(lambda: claim(channels=[Channel.IN_APP])).start().result() == []
    _sent_once(copy)


def test_settle_of_the_copy_then_push__push_waits_and_finds_it_sent(client: Client) -> None:
    push, copy = push_with_copy(client)
    [held] = claim(channels=[Channel.IN_APP])
    settle = _settles_gone()
    with transaction.atomic():
        assert len(queue.settle([accepted(held)])) == 1
        settle.start().wait_until_blocked_by_me()
    settle.result()

    assert status_of(push) == Status.SENT
    _sent_once(copy)


def test_push_then_settle_of_the_copy__settle_waits_and_is_stale(client: Client) -> None:
    push, copy = push_with_copy(client)
    [held] = claim(channels=[Channel.IN_APP])
    with transaction.atomic():
        deliver_copies(_group(push), worker_id="w")
        settle = Rival(lambda: queue.settle([accepted(held)])).start().wait_until_blocked_by_me()
    assert settle.result() == []
    _sent_once(copy)


def test_cancel_of_the_copy_then_push__push_waits_and_fails(client: Client) -> None:
    push, copy = push_with_copy(client)
    settle = _settles_gone()
    with transaction.atomic():
        assert queue.cancel(copy)
        settle.start().wait_until_blocked_by_me()
    settle.result()

    assert (status_of(push), status_of(copy), entry_ids()) == (Status.FAILED, Status.CANCELLED, [])
    assert [e["status"] for e in events(copy)] == ["CANCELLED"]


def test_cancel_of_the_copy_left_open_then_push__no_verdict_waits_for_it(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copies, "WAIT_SECONDS", 0.05)
    push, copy = push_with_copy(client)
    _, other_copy = push_with_copy(client, key="other")
    gone = [ending(row, GONE) for row in claim(limit=2, channels=[Channel.PUSH])]
    with transaction.atomic():
        queue.cancel(copy)
        assert len(Rival(lambda: queue.settle(gone)).start().result()) == 2
        transaction.set_rollback(True)

    assert (status_of(push), status_of(copy)) == (Status.SENT, Status.PENDING)
    assert entry_ids() == [other_copy]
    deliver(Channel.IN_APP)
    assert sorted(entry_ids()) == sorted((copy, other_copy))


def test_push_then_cancel_of_the_copy__cancel_waits_and_is_told_no(client: Client) -> None:
    push, copy = push_with_copy(client)
    with transaction.atomic():
        deliver_copies(_group(push), worker_id="w")
        cancel = Rival(lambda: queue.cancel(copy)).start().wait_until_blocked_by_me()
    assert cancel.result() is False
    _sent_once(copy)


def test_expiry_of_the_copy_then_push__push_waits_and_fails(client: Client) -> None:
    push, copy = push_with_copy(client)
    settle = _settles_gone()
    Notification.objects.filter(pk=copy).update(expires_at=Now())
    with transaction.atomic():
        assert queue.expire().total() == 1
        # Past its time it is no copy to wait for.
        settle.start().result()
    assert (status_of(push), status_of(copy), entry_ids()) == (Status.FAILED, Status.EXPIRED, [])


def test_pushes_of_one_group__settled_together__make_the_entry_once(client: Client) -> None:
    targets = [{"channel": "PUSH", "recipient": f"fcm:{n}"} for n in range(4)]
    targets.append({"channel": "IN_APP", "recipient": "ada"})
    group = services.submit_group(client, {"targets": targets, "body": "Hello", "idempotency_key": "k"})
    pushes = [ending(row, GONE) for row in claim(limit=4, channels=[Channel.PUSH])]

    run_together([lambda e=e: queue.settle([e]) for e in pushes])  # type: ignore[misc]

    assert {n.status for n in Notification.objects.all()} == {Status.SENT}
    _sent_once(group.notifications[-1].pk)


def test_settles_crosswise__each_with_the_copy_of_the_others_push__wait_in_no_circle(client: Client) -> None:
    pairs = [push_with_copy(client, key=f"k{n}") for n in range(8)]
    rows = {row.id: row for row in claim(limit=16)}
    first = [accepted(rows[pk]) for push, _ in pairs[:4] for pk in (push,)] + [accepted(rows[c]) for _, c in pairs[4:]]
    second = [accepted(rows[push]) for push, _ in pairs[4:]] + [accepted(rows[c]) for _, c in pairs[:4]]

    run_together([lambda: queue.settle(first), lambda: queue.settle(second)])

    assert {n.status for n in Notification.objects.all()} == {Status.SENT}
    assert sorted(entry_ids()) == sorted(copy for _, copy in pairs)


def _claimed_with_key(client: Client, *texts: str) -> list[queue.Ending]:
    for text in texts:
        services.submit(
            client=client, idempotency_key=text, channel="IN_APP", recipient="ada", body=text, collapse_key="c"
        )
    return [accepted(row) for row in claim(limit=len(texts))]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_two_entries_with_one_collapse_key__second_waits_and_only_the_newer_stays(
    client: Client, order: tuple[int, int]
) -> None:
    endings = _claimed_with_key(client, "older", "newer")
    with transaction.atomic():
        queue.settle([endings[order[0]]])
        other = Rival(lambda: queue.settle([endings[order[1]]])).start().wait_until_blocked_by_me()
    other.result()

    assert bodies() == ["newer"]


def test_read_then_replaced__replacement_passes_over_what_is_being_read(client: Client) -> None:
    older, newer = _claimed_with_key(client, "older", "newer")
    queue.settle([older])
    with transaction.atomic():
        assert inbox.mark_all_read(client, "ada").count == 1
        Rival(lambda: queue.settle([newer])).start().result()

    assert (bodies(), bodies(read_at=None)) == (["newer", "older"], ["newer"])


def test_replaced_then_read__reader_waits_and_finds_it_gone(client: Client) -> None:
    older, newer = _claimed_with_key(client, "older", "newer")
    queue.settle([older])
    entry = InboxEntry.objects.get()
    with transaction.atomic():
        queue.settle([newer])
        read = Rival(lambda: inbox.mark_all_read(client, "ada")).start().wait_until_blocked_by_me()
    assert read.result().count == 0
    assert not InboxEntry.objects.filter(pk=entry.pk).exists()
    assert bodies(read_at=None) == ["newer"]


def test_read_all__twice_at_once__counts_each_entry_once(client: Client) -> None:
    for number in range(30):
        services.submit(client=client, idempotency_key=f"{number}", channel="IN_APP", recipient="ada", body="x")
    deliver()

    counts = run_together([lambda: inbox.mark_all_read(client, "ada").count] * 2)

    assert sum(counts) == 30
