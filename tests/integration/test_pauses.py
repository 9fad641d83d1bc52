"""Pauses in the queue: what is kept, where it goes when they end, and what else may happen to it meanwhile."""

from uuid import UUID, uuid4

import pytest
from django.core.management import CommandError, call_command

from notifications import outcome, queue, services
from notifications.channel import Channel, Priority
from notifications.delivery.attempt import Deliverer
from notifications.delivery.controls import Controls
from notifications.delivery.held import Held
from notifications.errors import InvalidRequest, NotFound
from notifications.models import Notification, Pause
from notifications.pausing import Pauses
from notifications.providers.base import Capabilities
from notifications.providers.chains import Chain
from notifications.queue import Claimer, Limits
from notifications.retry import Backoff
from notifications.status import Status, WaitingReason
from notifications.verdict import Verdict
from notifyq.runtime.clock import elapsed
from ratelimits.models import Slot
from ratelimits.window import Limit
from tests.support.api import Caller, fields_of
from tests.support.rows import a_client, add, move, statuses

pytestmark = pytest.mark.django_db

PAUSES = "/api/v1/pauses"
CHAINS = {Channel.EMAIL: ("a", "b"), Channel.SMS: ("a",), Channel.PUSH: ("b",)}


@pytest.fixture(autouse=True)
def chains(settings):
    import dataclasses

    settings.NOTIFYQ = dataclasses.replace(settings.NOTIFYQ, provider_chains=CHAINS)


def serving(channel, recipient):
    return CHAINS[channel]


def claim(limit=100, *, suspects=False, default=None):
    claimer = Claimer("worker", 60, Limits(default, 60), suspects=suspects, serving=serving)
    return [row.id for row in queue.claim(claimer, limit).rows]


def pause(scope, value=None):
    return services.pause(scope, value, by="a test")[0]


def resume(pause):
    services.resume(pause.pk, by="a test")


def waiting(row_id):
    return Notification.objects.values_list("status", "waiting_reason", "parked_by").get(pk=row_id)


def test_pause__of_everything__parks_what_is_due_uncounted_and_keeps_its_due_time():
    [row_id] = add()
    before = Notification.objects.get()
    made = pause("ALL")

    assert claim() == []

    after = Notification.objects.get()
    assert waiting(row_id) == (Status.PENDING, WaitingReason.PAUSED, made.parking_id)
    assert (after.attempt_count, after.due_at) == (0, before.due_at)


def test_pause__of_a_channel_or_a_client__lets_the_others_through():
    shop, other = a_client(), a_client()
    [kept_client] = add(client=shop)
    [kept_channel] = add(client=other, channel=Channel.SMS)
    [free] = add(client=other)
    pause("CHANNEL", "SMS")
    pause("CLIENT", shop.name)

    assert claim() == [free]
    assert [waiting(i)[1] for i in (kept_client, kept_channel)] == ["PAUSED", "PAUSED"]


def test_pause__more_due_rows_than_a_claim_takes__each_claim_says_that_it_moved_some():
    add(5)
    pause("ALL")
    claimer = Claimer("worker", 60, Limits(None, 60), serving=serving)

    moved = [queue.claim(claimer, 2).parked_count for _ in range(4)]

    assert moved == [2, 2, 1, 0]


def test_pause__of_one_provider_of_two__parks_only_what_has_no_other():
    [email] = add()
    [sms] = add(channel=Channel.SMS)
    [bound] = add()
    Notification.objects.filter(pk=bound).update(unconfirmed_provider="a")
    pause("PROVIDER", "a")

    assert claim() == [email]
    assert [waiting(i)[1] for i in (sms, bound)] == ["PAUSED", "PAUSED"]


@pytest.mark.parametrize("first", ["a", "b"])
def test_resume__of_either_of_two_paused_providers__lets_go_what_can_use_it(first):
    [row_id] = add()
    pauses = {name: pause("PROVIDER", name) for name in ("a", "b")}
    assert claim() == []

    resume(pauses[first])

    assert queue.release_paused() == 1
    assert claim() == [row_id]


def test_resume__of_one_of_two_paused_providers__keeps_what_needs_the_other():
    [sms] = add(channel=Channel.SMS)
    kept, ended = pause("PROVIDER", "a"), pause("PROVIDER", "b")
    assert claim() == []

    resume(ended)
    queue.release_paused()

    assert claim() == []
    assert waiting(sms)[1] == WaitingReason.PAUSED
    resume(kept)
    queue.release_paused()
    assert claim() == [sms]


def test_resume__what_was_kept__goes_in_the_order_as_if_never_paused():
    late_low = add(1, priority=Priority.LOW)
    normal = add(3)
    made = pause("ALL")
    claim(2)
    claim()
    resume(made)
    high = add(1, priority=Priority.HIGH)
    newer = add(1)

    assert queue.release_paused() == 4

    assert claim() == [*high, *normal, *newer, *late_low]


def test_resume__more_than_a_pass_takes__takes_the_best_first_and_leaves_nothing():
    ids = add(5)
    made = pause("ALL")
    claim()
    resume(made)

    passes = [queue.release_paused(limit=2) for _ in range(4)]

    assert passes == [2, 2, 1, 0]
    assert claim() == ids
    assert not Pause.objects.exists()


def test_resume__another_pause_keeps_the_same_row__it_stays():
    [row_id] = add()
    first, second = pause("ALL"), pause("CHANNEL", "EMAIL")
    claim()

    resume(first)
    queue.release_paused()

    assert claim() == []
    assert waiting(row_id) == (Status.PENDING, WaitingReason.PAUSED, second.parking_id)


def test_resume__twice__the_second_finds_nothing():
    made = pause("ALL")
    resume(made)

    with pytest.raises(NotFound):
        resume(made)


def test_pause__twice__is_the_same_one():
    assert services.pause("ALL", by="x")[1] is True
    assert services.pause("ALL", by="y") == (Pause.objects.get(), False)


def test_pause__after_a_resume_that_is_still_being_swept__is_a_new_one():
    add()
    first = pause("ALL")
    claim()
    resume(first)
    second = pause("ALL")

    assert queue.release_paused() == 1
    assert claim() == []
    assert Notification.objects.get().parked_by == second.parking_id


def test_paused__cancelled_or_past_its_time__ends_as_usual():
    [cancelled, expired] = add(2)
    pause("ALL")
    claim()
    move(expired, expires_at=-1)

    assert queue.cancel(cancelled)
    assert queue.expire().total() == 1

    assert statuses() == {Status.CANCELLED: 1, Status.EXPIRED: 1}


def test_paused__past_its_time_when_it_would_be_parked__expires():
    [row_id] = add()
    move(row_id, expires_at=-1)
    pause("ALL")

    assert claim() == []
    assert statuses() == {Status.EXPIRED: 1}


def test_suspects__paused__are_parked_and_come_back_as_suspects():
    [row_id] = add()
    Notification.objects.update(suspect=True)
    made = pause("ALL")
    assert claim(1, suspects=True) == []

    resume(made)
    queue.release_paused()

    assert claim(1) == []
    assert claim(1, suspects=True) == [row_id]


def test_paused__had_a_reserved_slot__gives_it_to_the_next_behind_the_gate():
    limit = Limit(1, 3600)
    shop, other = a_client(), a_client()
    [sent] = add(client=other)
    assert claim(default=limit) == [sent]
    [first] = add(client=shop)
    [second] = add(client=other)
    assert claim(default=limit) == []
    Slot.objects.all().delete()
    from ratelimits.models import Gate

    Gate.objects.update(release_at="2020-01-01T00:00Z")
    assert queue.release_parked(limit) == 1
    pause("CLIENT", str(shop.pk))

    assert claim(default=limit) == []
    assert waiting(first)[1] == WaitingReason.PAUSED
    assert not Slot.objects.exists()
    assert queue.release_parked(limit) == 1
    assert claim(default=limit) == [second]


class Recorder:
    """A provider that says TEMPORARY and remembers who was asked."""

    def __init__(self, name, asked):
        self.name, self.asked = name, asked
        self.capabilities = Capabilities(dedupe_window_seconds=3600.0)

    def carries(self, recipient):
        return True

    def send(self, message, *, timeout_seconds):
        self.asked.append(self.name)
        return Verdict.temporary("busy")


def deliver(parking_ids):
    """One delivery through the chain a, b; the names asked, and how it ended."""
    asked: list[str] = []
    [row] = queue.claim(Claimer("worker", 60, Limits(None, 60)), 1).rows
    chain = Chain(tuple(Recorder(name, asked) for name in ("a", "b")))  # type: ignore[misc]
    deliverer = Deliverer(
        dict.fromkeys(Channel, chain), Backoff(1, 60), 1.0, lambda *_: True, lambda _: {}, Controls(Pauses(parking_ids))
    )
    return asked, deliverer.deliver(Held.since(row, elapsed(), 60))


def test_deliver__its_first_provider_is_paused__is_passed_over_without_an_attempt():
    add()
    asked, finished = deliver({("PROVIDER", "a"): uuid4()})

    assert asked == ["b"]
    assert [hop.provider for hop in finished.hops] == ["b"]


@pytest.mark.parametrize(
    "keys", [[("ALL", "")], [("CHANNEL", "EMAIL")], [("PROVIDER", "a"), ("PROVIDER", "b")]], ids=lambda keys: keys[0][0]
)
def test_deliver__paused_while_it_was_in_the_buffer__is_given_back_uncounted(keys):
    add()
    asked, finished = deliver({key: uuid4() for key in keys})

    assert (asked, finished.hops, finished.give_back) == ([], (), True)
    assert finished.decision == outcome.given_back(finished.held.claimed.standing)


def test_api__begin_list_and_end__work_for_operators(operator):
    created = operator.post(PAUSES, {"scope": "CHANNEL", "value": "SMS", "reason": "wrong texts"})
    repeated = operator.post(PAUSES, {"scope": "CHANNEL", "value": "SMS"})

    assert (created.status_code, repeated.status_code) == (201, 200)
    assert created.json() == repeated.json()
    assert operator.get(PAUSES).json() == {"results": [created.json()]}
    assert created.json()["createdBy"] == f"{operator.client.name} ({operator.key.prefix})"
    one = f"{PAUSES}/{created.json()['id']}"
    assert [operator.request("DELETE", one).status_code for _ in range(2)] == [204, 404]
    assert operator.get(PAUSES).json() == {"results": []}


def test_api__scopes_below_operate__may_not():
    caller = Caller(scopes=("send", "read"))

    assert caller.get(PAUSES).status_code == 403
    assert caller.post(PAUSES, {"scope": "ALL"}).status_code == 403


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({}, ["scope"]),
        ({"scope": "SOME"}, ["scope"]),
        ({"scope": ["ALL"]}, ["scope"]),
        ({"scope": "ALL", "value": "x"}, ["value"]),
        ({"scope": "CHANNEL"}, ["value"]),
        ({"scope": "CHANNEL", "value": "sms"}, ["value"]),
        ({"scope": "CHANNEL", "value": 1}, ["value"]),
        ({"scope": "PROVIDER", "value": "typo"}, ["value"]),
        ({"scope": "CLIENT", "value": "nobody"}, ["value"]),
        ({"scope": "CLIENT", "value": "a\u0000b"}, ["value"]),
        ({"scope": "ALL", "reason": "x" * 256}, ["reason"]),
        ({"scope": "ALL", "reason": "a\nb"}, ["reason"]),
        ({"scope": "SOME", "reason": 1}, ["scope", "reason"]),
        ({"scope": "ALL", "until": "noon"}, ["until"]),
    ],
)
def test_api__wrong_request__is_refused_field_by_field(operator, body, fields):
    response = operator.post(PAUSES, body)

    assert response.status_code == 400
    assert fields_of(response) == fields
    assert not Pause.objects.exists()


def test_api__paused_notification__shows_why_it_waits(caller):
    [row_id] = add(client=caller.client)
    pause("ALL")
    claim()

    shown = caller.get(f"/api/v1/notifications/{row_id}").json()

    assert (shown["status"], shown["waitingReason"], shown["dueAt"]) == ("PENDING", "PAUSED", shown["sendAt"])


def test_commands__pause_and_resume__are_each_others_undoing(capsys):
    call_command("pause", "PROVIDER", "a", "--reason", "it loses messages")
    assert Pause.objects.get().reason == "it loses messages"
    call_command("pause", "PROVIDER", "a")
    call_command("resume", "PROVIDER", "a")

    begun, repeated, ended = capsys.readouterr().out.splitlines()
    assert (begun, ended) == ("PROVIDER a is paused", "PROVIDER a goes on")
    assert repeated.startswith("PROVIDER a was paused already, by command:")
    assert repeated.endswith(" UTC: it loses messages")
    with pytest.raises(CommandError, match="nothing like that is paused"):
        call_command("resume", "PROVIDER", "a")
    with pytest.raises(CommandError, match="value must be one of a, b"):
        call_command("pause", "PROVIDER", "c")


def test_commands__client_by_name__is_kept_by_id():
    shop = a_client()
    call_command("pause", "CLIENT", shop.name)

    assert Pause.objects.get().value == str(shop.pk)
    call_command("resume", "CLIENT", str(shop.pk))


def test_invalid_pause__as_a_service__names_the_fields():
    with pytest.raises(InvalidRequest, match="scope"):
        services.pause("x", by="x")
    assert isinstance(pause("ALL").pk, UUID)
