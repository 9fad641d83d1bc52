"""What `up` sends at its first start, to be tried in the console. That all of it is accepted and comes to where it is
said to be is seen in tests/processes/test_up.py."""

from collections import Counter

import pytest

from notifications.channel import Channel
from notifyq.sandbox.magic import Magic, recognise
from notifyq.up import demo
from notifyq.up.first import Client, Unexpected

AN_OUTAGE = 5
"""So many failures in a row look like one."""
FAILURES = {Magic.TEMPORARY: 1, Magic.TEMPORARY_TWICE: 2, Magic.ACCEPT_THEN_500: 1}


CLIENT = Client("http://127.0.0.1:1", "key", lambda seconds: None)


@pytest.fixture
def asked(monkeypatch):
    """What the API is asked; it refuses webhooks, and in a batch what is empty."""
    calls = []

    def call(client, method, path, body=None, *, key=None):
        calls.append((method, path, body))
        if path.endswith("/webhook-endpoints"):
            raise Unexpected("400")
        return {
            "results": [{"index": n} | ({} if b else {"problem": 400}) for n, b in enumerate(body["notifications"])]
        }

    monkeypatch.setattr(Client, "_call", call)
    return calls


def test_bodies__of_one_channel__go_nowhere_else():
    assert {body["channel"] for body in demo.bodies([Channel.SMS], 10)} == {"SMS"}
    assert demo.bodies([], 10) == []


def test_bodies__all__have_each_a_key_of_their_own_that_never_changes():
    bodies = demo.bodies(Channel, 10)

    assert len({body["idempotencyKey"] for body in bodies}) == len(bodies)
    assert bodies == demo.bodies(Channel, 10)


@pytest.mark.parametrize(("limit", "to_one"), [(10, 12), (1, 3), (0, 0), (1000, 0)])
def test_bodies__by_the_rate_limit__pass_it_by_two_where_that_is_few(limit, to_one):
    assert sum(body["recipient"] == "news@example.com" for body in demo.bodies(Channel, limit)) == to_one


def test_bodies__refused_twice__are_given_up_just_before_the_attempt_that_would_send_them():
    twice = [b for b in demo.bodies(Channel, 10) if recognise(b["channel"], b["recipient"]) is Magic.TEMPORARY_TWICE]

    assert {body["channel"] for body in twice} == {"EMAIL", "SMS", "PUSH"}
    assert {body["maxAttempts"] for body in twice} == {2}


def test_bodies__their_failures__do_not_look_like_an_outage():
    failures: Counter[str] = Counter()
    for body in demo.bodies(Channel, 10):
        failures[body["channel"]] += FAILURES.get(recognise(body["channel"], body["recipient"]), 0)

    assert 0 < max(failures.values()) < AN_OUTAGE


def test_send__webhooks_to_this_machine_refused__sends_all_the_same(asked):
    demo.send(CLIENT, [{"channel": "SMS"}], "http://127.0.0.1:1/webhooks")

    assert [path for _, path, _ in asked] == ["/api/v1/webhook-endpoints", "/api/v1/notifications/batch"]
    assert asked[-1][2] == {"notifications": [{"channel": "SMS"}]}


@pytest.mark.usefixtures("asked")
def test_send__one_of_them_refused__says_which():
    with pytest.raises(Unexpected, match="notification 1 of a batch was refused"):
        demo.send(CLIENT, [{"channel": "SMS"}, {}], "http://127.0.0.1:1/webhooks")
