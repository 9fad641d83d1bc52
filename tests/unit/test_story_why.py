"""Why a notification is not sent yet, in one sentence: for every status and every reason to wait."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from notifications.channel import OnUnconfirmed
from notifications.outages import Outage
from notifications.status import FINAL, Status, WaitingReason
from notifications.story.said import Said
from notifications.story.why import ActFacts, Facts, PauseFacts, until_when, why

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)


def plain(said: Said) -> str:
    return "".join(
        f"{part:%H:%M}" if isinstance(part, datetime) else str(part) if isinstance(part, timedelta) else part
        for part in said
    )


def sentence(status: Status, reason: str = "", **facts) -> str:
    known = {"due_at": NOW - HOUR, "changed_at": NOW - timedelta(seconds=12), "workers_alive": 2, "max_attempts": 6}
    if status in FINAL:
        known["finished_at"] = NOW - HOUR
    return plain(why(Facts(status=status, waiting_reason=reason, **known | facts), NOW))


def test_scheduled__not_due__says_for_when() -> None:
    told = sentence(Status.PENDING, WaitingReason.SCHEDULED, due_at=NOW + HOUR)
    assert told == "It is scheduled for 13:00, in 1:00:00."


def test_rate_limited__slot_expected__says_about_when() -> None:
    told = sentence(Status.PENDING, WaitingReason.RATE_LIMITED, expected_at=NOW + HOUR)
    assert told == (
        "Its recipient has been sent as many as the limit allows: "
        "it waits for the next free slot, expected about 13:00."
    )


@pytest.mark.parametrize("expected_at", [None, NOW])
def test_rate_limited__slot_overdue_or_unknown__promises_no_time(expected_at: datetime | None) -> None:
    told = sentence(Status.PENDING, WaitingReason.RATE_LIMITED, expected_at=expected_at)
    assert told.endswith("as soon as the workers see a free slot, which is about now.")


def test_retry_backoff__not_due__says_which_attempt_follows_when() -> None:
    told = sentence(
        Status.PENDING,
        WaitingReason.RETRY_BACKOFF,
        due_at=NOW + HOUR,
        attempt_count=2,
        last_used_provider="smtp",
        error_code="421",
    )
    assert told == "Attempt 2 of 6 through smtp failed with 421: attempt 3 follows at 13:00, in 1:00:00."


def test_provider_unavailable__known_since__says_since_when_and_next_try() -> None:
    outage = Outage(NOW - HOUR, NOW + HOUR)
    told = sentence(Status.PENDING, WaitingReason.PROVIDER_UNAVAILABLE, due_at=NOW + HOUR, outage=outage)
    assert told == "No provider can take it now, since 11:00: it is tried again at 13:00, in 1:00:00."


@pytest.mark.parametrize(
    ("outage", "expected"),
    [
        (
            Outage(NOW - HOUR, NOW + HOUR),
            "No provider can take it now, since 11:00: the next call is tried at 13:00, in 1:00:00, and it goes on "
            "once that is answered.",
        ),
        (
            Outage(NOW - HOUR, NOW),
            "No provider can take it now, since 11:00: one call is due now, and it goes on once that is answered.",
        ),
        (
            Outage(NOW - HOUR, None),
            "No provider can take it now, since 11:00: it keeps its place, and goes on when an operator resets the "
            "breaker.",
        ),
        (
            Outage(None, NOW + HOUR),
            "No provider can take it now: the next call is tried at 13:00, in 1:00:00, and it goes on once that is "
            "answered.",
        ),
    ],
)
def test_due__no_provider_takes_it__says_since_when_and_until_when(outage: Outage, expected: str) -> None:
    assert sentence(Status.PENDING, WaitingReason.PROVIDER_UNAVAILABLE, outage=outage) == expected


def test_provider_unavailable__bound_to_one__names_it() -> None:
    told = sentence(Status.PENDING, WaitingReason.PROVIDER_UNAVAILABLE, due_at=NOW + HOUR, unconfirmed_provider="sms-a")
    assert told.startswith("sms-a takes nothing now: ")


def test_paused__in_force__says_what_by_whom_and_why() -> None:
    pause = PauseFacts("SMS", "ada", NOW - HOUR, "the account is drained")
    told = sentence(Status.PENDING, WaitingReason.PAUSED, pause=pause)
    assert told == (
        "Sending of SMS is paused by ada since 11:00 (the account is drained): "
        "it keeps its place and goes on when the pause ends."
    )


def test_paused__without_a_reason__has_no_empty_brackets() -> None:
    assert "()" not in sentence(Status.PENDING, WaitingReason.PAUSED, pause=PauseFacts("SMS", "ada", NOW))


def test_paused__pause_has_ended__says_so() -> None:
    assert "has ended" in sentence(Status.PENDING, WaitingReason.PAUSED)


def test_due__under_a_pause__names_the_pause() -> None:
    assert "paused by ada" in sentence(Status.PENDING, pause=PauseFacts("everything", "ada", NOW))


@pytest.mark.parametrize(("alive", "told"), [(0, "none is alive. Start"), (1, "1 is alive"), (3, "3 are alive")])
@pytest.mark.parametrize("reason", ["", *(r for r in WaitingReason if r not in ("PAUSED", "RATE_LIMITED"))])
def test_due__not_claimed_yet__says_since_when_and_whether_anybody_works(reason: str, alive: int, told: str) -> None:
    said = sentence(Status.PENDING, reason, workers_alive=alive)
    assert said.startswith("It is due since 11:00, for 1:00:00, and no worker has claimed it yet: ")
    assert told in said


def test_due__its_worker_died__says_that_it_is_tried_alone() -> None:
    assert "tried alone" in sentence(Status.PENDING, is_suspect=True)


def test_due_later__without_a_reason__says_when() -> None:
    assert sentence(Status.PENDING, due_at=NOW + HOUR) == "It is due at 13:00, in 1:00:00."


@pytest.mark.parametrize("reason", ["", *WaitingReason])
def test_pending__past_its_time_to_live__says_that_first(reason: str) -> None:
    assert sentence(Status.PENDING, reason, expires_at=NOW).startswith("Its time to live ended at 12:00")


def test_processing__within_its_lease__says_by_whom_for_how_long_until_when() -> None:
    told = sentence(Status.PROCESSING, worker_id="w1", lease_expires_at=NOW + HOUR, sending_provider="smtp")
    assert told == "Worker w1, sending through smtp, has held it for 0:00:12, with a lease until 13:00."


def test_processing__beyond_its_lease__says_that_it_is_taken_back() -> None:
    told = sentence(Status.PROCESSING, worker_id="w1", lease_expires_at=NOW - HOUR)
    assert (
        told == "Worker w1 has held it for 0:00:12, longer than its lease, which ended at 11:00: it is taken back next."
    )


def test_reconciling__asked_before__says_when_and_when_next() -> None:
    told = sentence(
        Status.RECONCILING, unconfirmed_provider="smtp", asked_at=NOW - HOUR, asked_count=3, due_at=NOW + HOUR
    )
    assert told == (
        "The answer of smtp was lost, and it is asked what became of the send: "
        "asked 3 times, last at 11:00, next at 13:00."
    )


def test_reconciling__never_asked__says_when_next() -> None:
    assert sentence(Status.RECONCILING, unconfirmed_provider="smtp").endswith(
        "what became of the send: next in a moment."
    )


def test_reconciling__cannot_be_asked__says_so() -> None:
    told = sentence(Status.RECONCILING, unconfirmed_provider="smtp", is_askable=False, due_at=NOW + HOUR)
    assert told.endswith("it has left the chain or its look-ups are off: its turn comes at 13:00.")


HELD_LATER = "it becomes a dead letter, to be marked or retried here."


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({"on_unconfirmed": OnUnconfirmed.HOLD}, f"with HOLD {HELD_LATER}"),
        ({"max_attempts": 2}, "with RETRY it is sent again, which may be a second copy."),
        ({}, f"with RETRY, but no attempt left, {HELD_LATER}"),
        ({"max_attempts": 2, "expires_at": NOW}, f"with RETRY, but its time to live over by then, {HELD_LATER}"),
    ],
)
def test_until_when__on_unconfirmed__is_told_with_the_time(facts: dict[str, Any], expected: str) -> None:
    known = {"attempt_count": 1, "max_attempts": 1, "decided_at": NOW + HOUR, "unconfirmed_provider": "smtp"}
    told = until_when(Facts(status=Status.RECONCILING, due_at=NOW, changed_at=NOW, **known | facts), NOW)
    assert plain(told) == (
        "Nothing while smtp is asked: it may have been sent, and its answer ends the doubt. "
        f"From 13:00 on, when smtp can know no more, onUnconfirmed decides: {expected}"
    )


@pytest.mark.parametrize(
    ("decided_at", "expected"),
    [
        (None, "Once its hour is over, onUnconfirmed decides: "),
        (NOW, "As its hour is over, onUnconfirmed decides when"),
    ],
)
def test_until_when__cannot_be_asked__says_so(decided_at: datetime | None, expected: str) -> None:
    known = {"decided_at": decided_at, "unconfirmed_provider": "smtp", "is_askable": False}
    told = plain(until_when(Facts(status=Status.RECONCILING, due_at=NOW, changed_at=NOW, **known), NOW))
    assert told.startswith(f"Nothing yet: it may have been sent, and smtp cannot be asked. {expected}")


def test_sent__accepted__says_by_whom_and_as_what() -> None:
    told = sentence(Status.SENT, provider="smtp", provider_message_id="m-1")
    assert told == "It was sent: smtp accepted it at 11:00 as m-1."


def act(action: str) -> ActFacts:
    return ActFacts(action, "ada", NOW - HOUR)


@pytest.mark.parametrize(("status", "told"), [(Status.SENT, "was delivered"), (Status.FAILED, "was not delivered")])
def test_resolved__by_an_operator__names_them(status: Status, told: str) -> None:
    assert sentence(status, last_act=act("RESOLVE")) == f"ada found at 11:00 that it {told}."


def test_sent__after_a_retry_by_an_operator__is_the_providers_doing() -> None:
    assert "smtp accepted it" in sentence(Status.SENT, provider="smtp", last_act=act("RETRY"))


def test_failed__rejected__says_by_whom_and_why() -> None:
    told = sentence(Status.FAILED, last_used_provider="smtp", error_code="550", error_message="no such user")
    assert told.startswith("smtp refused it for good at 11:00 (550: no such user).")


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        ({"error_code": "UNCONFIRMED", "unconfirmed_provider": "smtp"}, "may have been sent through smtp"),
        ({"error_code": "UNCONFIRMED"}, "may have been sent and nobody can say: decide"),
        ({"error_code": "bug", "error_message": "KeyError"}, "Our own code failed over it at 11:00 (bug: KeyError)"),
        ({"error_code": "lost"}, "Each worker that tried it died, the last at 11:00"),
        ({"error_code": "421"}, "It used up all 6 attempts, the last at 11:00 (421)."),
        ({"error_code": "421", "max_attempts": 1}, "It used up its only attempt"),
    ],
)
def test_dead_lettered__each_cause__is_said(facts: dict[str, object], told: str) -> None:
    assert told in sentence(Status.DEAD_LETTERED, **facts)


def test_cancelled__by_whom__is_said() -> None:
    assert sentence(Status.CANCELLED) == "Its client cancelled it at 11:00, before it was sent."
    assert sentence(Status.CANCELLED, last_act=act("CANCEL")).startswith("ada cancelled it")
    assert sentence(Status.CANCELLED, last_act=act("RESCHEDULE")).startswith("Its client")


def test_expired__says_when_its_time_ended() -> None:
    told = sentence(Status.EXPIRED, expires_at=NOW - HOUR)
    assert told == "Its time to live ended at 11:00, before it could be sent."


@pytest.mark.parametrize("status", Status)
@pytest.mark.parametrize("reason", ["", *WaitingReason])
def test_every_state__least_that_is_known__still_is_one_sentence(status: Status, reason: str) -> None:
    told = sentence(status, reason if status == Status.PENDING else "")
    assert told.endswith(".")
    assert "None" not in told
