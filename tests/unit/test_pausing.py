"""What a pause keeps, and what it does not."""

from uuid import uuid4

import pytest

from notifications.channel import Channel
from notifications.pausing import Pauses, usable_providers

CLIENT, OTHER = uuid4(), uuid4()
ID, ANOTHER = uuid4(), uuid4()


def keeping(parking_ids, channel=Channel.SMS, client_id=CLIENT, providers=("a", "b")):
    return Pauses(parking_ids).keeping(channel=channel, client_id=client_id, providers=providers)


@pytest.mark.parametrize(
    "key", [("ALL", ""), ("CHANNEL", "SMS"), ("CLIENT", str(CLIENT))], ids=lambda key: key[0].lower()
)
def test_keeping__what_is_named__is_kept_whatever_the_provider(key):
    pauses = Pauses({key: ID})

    assert keeping(pauses.parking_ids) == ID
    assert keeping(pauses.parking_ids, providers=()) == ID
    assert pauses.stops(channel=Channel.SMS, client_id=CLIENT)


@pytest.mark.parametrize("key", [("CHANNEL", "EMAIL"), ("CLIENT", str(OTHER)), ("PROVIDER", "c")])
def test_keeping__another_one_is_named__is_not_kept(key):
    pauses = Pauses({key: ID})

    assert keeping(pauses.parking_ids) is None
    assert not pauses.stops(channel=Channel.SMS, client_id=CLIENT)


def test_keeping__some_of_the_providers_are_paused__is_not_kept():
    assert keeping({("PROVIDER", "a"): ID}) is None
    assert keeping({("PROVIDER", "b"): ID}) is None


def test_keeping__all_of_the_providers_are_paused__is_kept():
    pauses = Pauses({("PROVIDER", "a"): ID, ("PROVIDER", "b"): ANOTHER})

    assert keeping(pauses.parking_ids) == ID
    assert keeping(pauses.parking_ids, providers=("b",)) == ANOTHER
    assert pauses.stops_provider("a")
    assert not pauses.stops_provider("c")
    assert not pauses.stops(channel=Channel.SMS, client_id=CLIENT)


def test_keeping__no_provider_is_known__a_pause_of_one_keeps_nothing():
    assert keeping({("PROVIDER", "a"): ID}, providers=()) is None


@pytest.mark.parametrize(("bound", "usable"), [("", ("a", "b")), ("b", ("b",)), ("gone", ("a", "b"))])
def test_usable_providers__bound_by_an_unconfirmed_attempt__is_that_one_alone(bound, usable):
    assert tuple(usable_providers(("a", "b"), bound)) == usable
