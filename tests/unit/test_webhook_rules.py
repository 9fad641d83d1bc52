"""Signatures, the schedule, what follows from an answer, and how seats are shared: all without a database."""

import base64
import random
from datetime import UTC, datetime
from uuid import uuid4

import pytest
from django.db.models import CheckConstraint, Q
from standardwebhooks import Webhook, WebhookVerificationError

from webhooks.dispatch.shares import Demand, allot
from webhooks.models import WebhookEvent
from webhooks.outcome import Reply, Standing, after_loss, after_reply
from webhooks.schedule import WAITS_SECONDS, wait_seconds
from webhooks.signing import new_secret, signed_headers
from webhooks.status import FINAL, TRANSITIONS, EventStatus, allowed

DICE = random.Random(1)


def now():
    """Taken when it is needed: a whole run takes longer than a signature is good for."""
    return datetime.now(UTC).timestamp()


def test_new_secret__each__is_the_prefix_and_32_random_bytes():
    first, second = new_secret(), new_secret()

    assert first != second
    assert first.startswith("whsec_")
    assert len(base64.b64decode(first.removeprefix("whsec_"), validate=True)) == 32


def test_signature__of_the_specification__is_the_known_one():
    """Source: the test of Svix's libraries, the specification's origin."""
    headers = signed_headers(
        "msg_p5jXN8AQM9LWM0D4loKWxJek",
        '{"test": 2432232314}',
        ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
        at_epoch_seconds=1614265330.9,
    )

    assert headers == {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }


def test_signature__without_the_prefix__is_the_same():
    secret = new_secret()
    with_prefix, without = (
        signed_headers("id", "{}", [s], at_epoch_seconds=now()) for s in (secret, secret.removeprefix("whsec_"))
    )

    assert with_prefix == without


def test_signature__of_several_secrets__verifies_with_each_and_no_other():
    secrets = [new_secret(), new_secret()]
    headers = signed_headers("id", '{"a":"ü"}', secrets, at_epoch_seconds=now())

    for secret in secrets:
        assert Webhook(secret).verify('{"a":"ü"}', headers) == {"a": "ü"}
    with pytest.raises(WebhookVerificationError):
        Webhook(new_secret()).verify('{"a":"ü"}', headers)
    with pytest.raises(WebhookVerificationError):
        Webhook(secrets[0]).verify('{"a":"u"}', headers)


def test_signature__more_than_five_minutes_old__is_refused_by_the_receiver():
    secret = new_secret()
    headers = signed_headers("id", "{}", [secret], at_epoch_seconds=now() - 301)

    with pytest.raises(WebhookVerificationError):
        Webhook(secret).verify("{}", headers)


def test_schedule__the_waits__are_those_of_the_documentation():
    minute, hour = 60, 3600

    assert (
        *(0, 5, 5 * minute, 30 * minute),
        *(2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour),
    ) == WAITS_SECONDS


@pytest.mark.parametrize("failed", range(1, 20))
def test_wait__after_each_failure__is_the_planned_one_and_up_to_a_tenth_more(failed):
    planned = WAITS_SECONDS[min(failed, 9)]
    waits = [wait_seconds(failed, dice=DICE) for _ in range(200)]

    assert min(waits) >= planned
    assert max(waits) <= planned * 1.1
    assert max(waits) - min(waits) > planned * 0.05


def test_wait__retry_after__is_a_floor_and_never_more_than_a_day():
    assert 100 <= wait_seconds(1, at_least_seconds=100, dice=DICE) <= 110
    assert 300 <= wait_seconds(2, at_least_seconds=100, dice=DICE) <= 330
    assert 86_400 <= wait_seconds(1, at_least_seconds=1e9, dice=DICE) <= 95_040


@pytest.mark.parametrize(
    ("status", "attempt", "expected"),
    [
        (200, 1, EventStatus.DELIVERED),
        (299, 10, EventStatus.DELIVERED),
        (301, 1, EventStatus.PENDING),
        (500, 9, EventStatus.PENDING),
        (500, 10, EventStatus.FAILED),
        (None, 10, EventStatus.FAILED),
        (199, 1, EventStatus.PENDING),
        (410, 1, EventStatus.CANCELLED),
        (410, 10, EventStatus.CANCELLED),
    ],
)
def test_decision__for_each_kind_of_answer__is_the_documented_one(status, attempt, expected):
    decision = after_reply(Standing(attempt, 10), Reply(status, "code"), DICE)

    assert decision.status is expected
    assert decision.endpoint_gone is (status == 410)
    assert (decision.wait_seconds is not None) is (expected is EventStatus.PENDING)


def test_loss__the_first__costs_nothing_and_the_next_ones_count():
    first = after_loss(Standing(1, 10), DICE)
    second = after_loss(Standing(1, 10, suspect=True), DICE)
    last = after_loss(Standing(10, 10, suspect=True), DICE)

    assert (first.status, first.refund, first.wait_seconds, first.suspect) == (EventStatus.PENDING, 1, 0.0, True)
    assert (second.status, second.refund, second.suspect) == (EventStatus.PENDING, 0, True)
    assert last.status is EventStatus.FAILED


def test_transitions__every_decision__is_in_the_table():
    decisions = [after_reply(Standing(n, 10), Reply(s, "x"), DICE) for n in (1, 10) for s in (200, 302, 410, 500, None)]
    losses = [after_loss(Standing(n, 10, suspect), DICE) for n in (1, 10) for suspect in (True, False)]

    assert all(allowed(EventStatus.PROCESSING, d.status, by="settle") for d in decisions)
    assert all(allowed(EventStatus.PROCESSING, d.status, by="rescue") for d in losses)


def test_transitions__out_of_a_final_state__are_made_by_a_replay_only():
    assert {t.by for t in TRANSITIONS if t.source in FINAL} == {"replay"}
    assert {t.source for t in TRANSITIONS if t.by == "replay"} == FINAL
    assert {t.target for t in TRANSITIONS} == set(EventStatus)


def test_constraints__of_the_table__name_every_status():
    (check,) = (c for c in WebhookEvent._meta.constraints if c.name == "webhook_event_status")

    assert isinstance(check, CheckConstraint)
    assert check.condition == Q(status__in=list(EventStatus))


def demand(troubled=False, overdue=1.0):
    return Demand(uuid4(), troubled, overdue)


def test_allot__one_endpoint_alone__gets_four_of_many_seats():
    one = demand()

    assert allot([one], {}, set(), 32) == {one.endpoint_id: 4}
    assert allot([one], {one.endpoint_id: 3}, set(), 32) == {one.endpoint_id: 1}
    assert allot([one], {one.endpoint_id: 4}, set(), 32) == {}


def test_allot__failing_endpoint__gets_one():
    one = demand(troubled=True)

    assert allot([one], {}, set(), 32) == {one.endpoint_id: 1}
    assert allot([one], {one.endpoint_id: 1}, {one.endpoint_id}, 32) == {}


def test_allot__fifty_failing_endpoints__leave_half_of_the_seats():
    sick = [demand(troubled=True, overdue=1000.0) for _ in range(50)]
    well = demand()

    shares = allot([*sick, well], {}, set(), 32)

    assert shares.pop(well.endpoint_id) == 4
    assert sum(shares.values()) == 16
    held = dict.fromkeys(shares, 1)
    assert allot(sick, held, set(held), 32) == {}


def test_allot__many_endpoints__every_one_gets_a_seat_before_any_gets_two():
    demands = [demand(overdue=n) for n in range(10)]

    shares = allot(demands, {}, set(), 10)

    assert shares == {d.endpoint_id: 1 for d in demands}


def test_allot__fewer_seats_than_endpoints__the_longest_due_and_those_with_nothing_on_its_way_go_first():
    early, late, busy = demand(overdue=9), demand(overdue=1), demand(overdue=99)

    assert allot([late, busy, early], {busy.endpoint_id: 1, uuid4(): 2}, set(), 4) == {early.endpoint_id: 1}


def test_allot__the_last_quarter__is_kept_for_newcomers():
    hanging = [uuid4() for _ in range(6)]
    held = dict.fromkeys(hanging, 4)
    more = [Demand(key, False, 1.0) for key in hanging]
    newcomer = demand()

    assert allot(more, held, set(), 32) == {}
    assert allot([newcomer], held, set(), 32) == {newcomer.endpoint_id: 1}
