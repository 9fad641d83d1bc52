"""Real workers and a simulated vendor behind HTTP: what is due is sent once, and ends where it should."""

from __future__ import annotations

from collections import Counter

import pytest

from notifications.channel import Channel
from notifications.models import Attempt, Notification
from notifications.status import FINAL, Status
from tests.support.inboxes import entry_ids, push_with_copy
from tests.support.rows import a_client, add, all_are, attempts_of
from tests.support.sandbox import Sandbox
from tests.support.waiting import wait_until
from tests.support.workers import Fleet

pytestmark = [pytest.mark.processes, pytest.mark.django_db(transaction=True)]


def test_run_workers__ten_processes_share_300__each_is_sent_once(fleet: Fleet, sandbox: Sandbox) -> None:
    fleet.start("--processes", "10", "--concurrency", "2")
    ids = add(300)
    wait_until(lambda: all_are(Status.SENT, 300), 30, "300 SENT")
    assert sandbox.stats() == (300, 300, 0)
    assert {m["key"] for m in sandbox.messages()} == {str(i) for i in ids}
    assert set(Notification.objects.values_list("attempt_count", flat=True)) == {1}
    assert Attempt.objects.count() == 300


SPELLINGS = {Channel.EMAIL: "{}@example.org", Channel.PUSH: "fcm:{}"}
VENDORS_CHANNELS = [channel for channel in Channel if channel is not Channel.IN_APP]
PHONES = {
    "ok": "+41790000000",
    "reject": "+41790000001",
    "temporary": "+41790000002",
    "temporary-twice": "+41790000003",
    "accept-then-timeout": "+41790000004",
    "accept-then-500": "+41790000005",
    "hang": "+41790000006",
    "rate-limit": "+41790000007",
    "poison": "+41790000009",
}
ENDS = {
    "ok": (Status.SENT, 1, ""),
    "reject": (Status.FAILED, 1, "recipient_rejected"),
    "temporary": (Status.DEAD_LETTERED, 6, "not_accepted"),
    "temporary-twice": (Status.SENT, 3, ""),
    "accept-then-timeout": (Status.SENT, 2, ""),
    "accept-then-500": (Status.SENT, 2, ""),
    "hang": (Status.DEAD_LETTERED, 6, "not_received"),
    "rate-limit": (Status.DEAD_LETTERED, 6, "throttled"),
    "poison": (Status.DEAD_LETTERED, 6, "not_received"),
}


def _recipient(channel: Channel, word: str) -> str:
    return PHONES[word] if channel is Channel.SMS else SPELLINGS[channel].format(word)


def test_run_workers__magic_recipients_on_each_channel__end_as_the_vendor_says(fleet: Fleet, sandbox: Sandbox) -> None:
    words = {
        add(channel=channel, recipient=_recipient(channel, word))[0]: (channel, word)
        for channel in VENDORS_CHANNELS
        for word in ENDS
    }
    fleet.start("--concurrency", "32", NOTIFYQ_SEND_TIMEOUT_SECONDS="3")
    final = Notification.objects.filter(status__in=list(FINAL))
    wait_until(lambda: final.count() == len(words), 100, "all final")
    ended = {words[row.pk]: (row.status, row.attempt_count, row.last_error_code) for row in Notification.objects.all()}
    assert ended == {(channel, word): end for channel in VENDORS_CHANNELS for word, end in ENDS.items()}
    assert all(len(attempts_of(i)) == ENDS[word][1] for i, (_, word) in words.items())
    accepted = Counter(m["key"] for m in sandbox.messages())
    assert accepted == Counter(str(i) for i, (_, w) in words.items() if w.startswith(("ok", "accept")) or "twice" in w)


def test_run_workers__pushes_with_copies_while_workers_of_pushes_alone_run__leave_each_copy_once_in_the_inbox(
    fleet: Fleet, sandbox: Sandbox
) -> None:
    client = a_client()
    pairs = {word: push_with_copy(client, key=word, device=f"fcm:{word}") for word in ("reject", "ok-1", "ok-2")}
    fleet.start("--channel", "PUSH")
    wait_until(lambda: all_are(Status.SENT, 6), 30, "pushes and copies SENT")
    fleet.start()
    add(channel=Channel.IN_APP, recipient="eve")
    wait_until(lambda: all_are(Status.SENT, 7), 30, "the other entry")

    assert sorted(entry_ids("ada")) == sorted(copy for _, copy in pairs.values())
    assert Notification.objects.get(pk=pairs["reject"][0]).last_error_code == "no_push_target"
    assert {m["channel"] for m in sandbox.messages()} == {"PUSH"}
