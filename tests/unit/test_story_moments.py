"""What rows become in the story of a notification."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from notifications.admin.story.moments import moments, of_look_up, of_receipt
from notifications.admin.story.reading import History
from notifications.models import Attempt, Client, Notification, OperatorAction
from notifications.status import Status
from notifications.story.moment import Moment
from notifications.story.why import ActFacts, Facts

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def ago(seconds: float) -> datetime:
    return NOW - timedelta(seconds=seconds)


def a_row(**columns: Any) -> Notification:
    known = {"created_at": ago(900), "send_at": ago(900), "due_at": ago(900), "updated_at": ago(5), "status": "PENDING"}
    return Notification(client=Client(name="Shop"), idempotency_key="k-1", **known | columns)


def an_attempt(number: int, started: float, finished: float, *, cycle: int = 1, **columns: Any) -> Attempt:
    known = {"hop": 1, "provider": "smtp", "outcome": "TEMPORARY", "error_code": "421", "worker_id": "w1"}
    times = {"started_at": ago(started), "finished_at": ago(finished)}
    return Attempt(cycle=cycle, number=number, **known | times | columns)


def story(row: Notification, *, attempts: Any = (), actions: Any = (), is_cut: bool = False) -> list[Moment]:
    status = Status(row.status)
    facts = Facts(
        status=status, due_at=row.due_at, changed_at=row.updated_at, finished_at=row.finished_at, worker_id="w1"
    )
    return moments(row, History(list(attempts), list(actions), [], [], is_cut), facts, NOW)


def titles(found: list[Moment]) -> list[str]:
    return ["".join(part for part in moment.title if isinstance(part, str)) for moment in found]


def test_story__of_a_new_one__is_its_beginning_and_how_it_stands() -> None:
    first, last = story(a_row())

    assert first.title == ("Created by Shop",)
    assert first.facts == (("idempotency key", ("k-1",)),)
    assert (last.at, last.badge) == (NOW, ("PENDING", "wait"))


def test_story__scheduled__says_for_when_unless_it_was_rescheduled() -> None:
    row = a_row(send_at=ago(-60))
    act = OperatorAction(
        action="RESCHEDULE", actor="ada", actor_kind="USER", created_at=ago(1), status_before="PENDING"
    )

    assert ("Scheduled for ", row.send_at) in [m.title for m in story(row)]
    assert not [m for m in story(row, actions=[act]) if m.title[0] == "Scheduled for "]
    act.details = {"sendAt": ago(-60).isoformat(), "previousSendAt": ago(-30).isoformat()}
    told = story(row, actions=[act])
    assert ("Scheduled for ", ago(-30)) in [m.title for m in told]
    (moved,) = (m for m in told if m.badge == ("operator", "busy"))
    assert moved.facts[1:] == (
        ("status before", ("PENDING",)),
        ("send time before", (ago(-30),)),
        ("new send time", (ago(-60),)),
        ("acted with", ("a login to the console",)),
    )


def test_story__attempts__each_wait_between_them_has_its_reason() -> None:
    attempts = [
        an_attempt(1, 800, 799),
        an_attempt(2, 700, 690, outcome="LOST", error_code="lost"),
        an_attempt(3, 600, 599),
        an_attempt(1, 300, 299, cycle=2, outcome="ACCEPTED"),
    ]

    told = titles(story(a_row(), attempts=attempts))

    assert told[:-1] == [
        "Created by Shop",
        "Waited : for a free seat, a limit or a pause: the rows do not tell which",
        "Attempt 1.1.1 through smtp",
        "Waited : backoff before attempt 2",
        "Attempt 1.2.1 through smtp",
        "Waited : taken back from the lost worker",
        "Attempt 1.3.1 through smtp",
        "Attempt 2.1.1 through smtp",
    ]


def test_story__hops_of_one_attempt__are_no_wait() -> None:
    attempts = [an_attempt(1, 900, 800), an_attempt(1, 700, 690, hop=2)]

    assert not [t for t in titles(story(a_row(), attempts=attempts)) if t.startswith("Waited")]


def test_story__cut__does_not_take_a_later_attempt_for_the_first() -> None:
    found = story(a_row(), attempts=[an_attempt(5, 100, 99)], is_cut=True)

    assert not [t for t in titles(found) if t.startswith("Waited")]


def test_attempt__all_that_the_row_tells__is_there() -> None:
    attempt = an_attempt(1, 900, 898, error_message="try later", provider_message_id="m-1")

    found = next(m for m in story(a_row(), attempts=[attempt]) if m.badge == ("TEMPORARY", "wait"))

    assert dict(found.facts) == {
        "answer": ("421: try later",),
        "message id": ("m-1",),
        "took": (timedelta(seconds=2),),
        "claimed by": ("w1",),
    }


def test_attempt__of_a_lost_worker__has_no_duration() -> None:
    attempt = an_attempt(1, 900, 100, started_at=None, outcome="LOST")

    found = next(m for m in story(a_row(), attempts=[attempt]) if m.badge == ("LOST", "bad"))

    assert (found.at, dict(found.facts)["took"]) == (ago(100), ("nobody knows",))


def test_act__says_who_why_and_what_it_was() -> None:
    act = OperatorAction(
        action="RETRY", actor="ada", actor_kind="API_KEY", reason="relay is back", status_before="FAILED",
        created_at=ago(10), details={"expiresAt": "2030-01-01T00:00:00Z", "many": True},
    )  # fmt: skip

    found = next(m for m in story(a_row(), actions=[act]) if m.badge == ("operator", "busy"))

    assert found.title == ("Retried by ada",)
    assert dict(found.facts) == {
        "reason": ("relay is back",),
        "status before": ("FAILED",),
        "new expiry": (datetime(2030, 1, 1, tzinfo=UTC),),
        "many": ("True",),
        "acted with": ("an API key",),
    }


def test_story__held_by_a_worker__says_since_when() -> None:
    found = story(a_row(status="PROCESSING"))

    assert (found[1].at, found[1].title) == (ago(5), ("Claimed by worker w1",))


def test_story__ended__puts_the_end_at_its_time() -> None:
    found = story(a_row(status="EXPIRED", finished_at=ago(100)))

    assert (found[-1].at, found[-1].badge) == (ago(100), ("EXPIRED", "quiet"))


def test_story__cancelled_by_an_operator__shows_the_act_before_its_effect() -> None:
    """Both stand in one transaction, the record by some milliseconds the later."""
    act = OperatorAction(action="CANCEL", actor="ada", actor_kind="USER", created_at=ago(99.9), status_before="PENDING")
    row = a_row(status="CANCELLED", finished_at=ago(100))
    facts = Facts(
        status=Status.CANCELLED,
        due_at=row.due_at,
        changed_at=row.updated_at,
        finished_at=row.finished_at,
        last_act=ActFacts("CANCEL", "ada", ago(99.9)),
    )

    found = moments(row, History([], [act], [], [], is_cut=False), facts, NOW)

    assert [m.badge and m.badge[0] for m in found] == [None, "operator", "CANCELLED"]


def test_look_up__asked_often__says_how_often_and_when_last() -> None:
    row = SimpleNamespace(
        provider="sms-a", found="UNKNOWN", error_code="503", error_message="away", asked_count=3,
        first_asked_at=ago(60), last_asked_at=ago(10),
    )  # fmt: skip

    found = of_look_up(row)

    assert (found.at, found.badge) == (ago(60), ("UNKNOWN", "wait"))
    assert dict(found.facts) == {"answer": ("503: away",), "said so": ("3 times, last at ", ago(10))}


def _receipt(**changes: Any) -> Any:
    known = {
        "provider": "mail-a", "status": "BOUNCED", "word": "bounce", "code": "5.1.1", "text": "no such user",
        "provider_message_id": "m-1", "credited": True, "at": ago(20), "received_at": ago(10),
    }  # fmt: skip
    return SimpleNamespace(**known | changes)


def test_receipt__says_what_was_reported_in_whose_words_and_when_it_happened() -> None:
    found = of_receipt(_receipt(), ago(30))

    assert (found.at, found.title, found.badge) == (ago(20), ("mail-a reported",), ("BOUNCED", "bad"))
    facts = dict(found.facts)
    assert (facts["happened"], facts["told"], facts["in its words"]) == ((ago(20),), (ago(10),), ("bounce",))


@pytest.mark.parametrize(
    ("at", "expected"),
    [(None, ago(10)), (ago(40), ago(30)), (ago(5), ago(10)), (ago(30), ago(30)), (ago(20), ago(20))],
)
def test_receipt__by_whatever_clock__stands_between_the_send_and_its_arrival(at: Any, expected: Any) -> None:
    assert of_receipt(_receipt(at=at), ago(30)).at == expected


def test_receipt__that_does_not_count__says_why() -> None:
    found = of_receipt(_receipt(credited=False), ago(30))

    assert found.badge == ("BOUNCED", "quiet")
    assert dict(found.facts)["not credited"] == ("it was not sent through mail-a, so this counts for nothing",)
