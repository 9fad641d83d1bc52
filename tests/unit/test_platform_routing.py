"""Providers that serve only some addresses, and devices that collapse copies: what the engine makes of both."""

import math
import random
from datetime import UTC, datetime

import pytest

from notifications import outcome
from notifications.channel import Channel, OnUnconfirmed, Priority
from notifications.delivery.attempt import Deliverer
from notifications.delivery.controls import Controls
from notifications.delivery.held import message_of
from notifications.delivery.routing import may_send_again, route
from notifications.delivery.upkeep import safety_of
from notifications.outcome import Standing
from notifications.providers.base import Capabilities, DuplicateHarm
from notifications.providers.chains import Chain, is_served
from notifications.queue.rescue import Safety
from notifications.retry import Backoff
from notifications.status import Status
from notifications.verdict import Outcome, Verdict
from notifyq.runtime.clock import elapsed
from tests.support.held import held
from tests.support.platforms import Apple, Google

ANDROID, IPHONE, HOLD = "fcm:token", "apns:00ff", OnUnconfirmed.HOLD
UNSURE = Verdict.unconfirmed("read_timeout")


@pytest.fixture
def google():
    return Google("fcm")


@pytest.fixture
def apple():
    return Apple("apns")


@pytest.fixture
def both(google, apple):
    return Chain((google, apple))


def delivered(chain, recipient, **changes):
    begun = []

    def begin(row, provider):
        begun.append(provider.name)
        return True

    deliverer = Deliverer({Channel.PUSH: chain}, Backoff(1, 60), 1.0, begin, lambda _: {}, Controls())
    finished = deliverer.deliver(held(channel=Channel.PUSH, recipient=recipient, **changes))
    return finished, begun


def test_serving__an_address__leaves_those_of_its_platform(both, google, apple):
    assert both.serving(ANDROID).providers == (google,)
    assert both.serving(IPHONE).providers == (apple,)
    assert both.serving("tty:1").providers == ()
    assert both.serving("tty:1").first is None
    assert Chain((apple,)).serving(IPHONE).first is apple


@pytest.mark.parametrize(("recipient", "name"), [(ANDROID, "fcm"), (IPHONE, "apns")])
def test_deliver__each_platform__goes_to_its_own_without_a_record(recipient, name, both):
    finished, begun = delivered(both, recipient)

    assert (finished.decision.status, finished.decision.provider) == (Status.SENT, name)
    assert begun == []  # a repeat does no harm, and there is nobody else whom it could go to


@pytest.mark.parametrize("verdict", [Verdict.temporary("busy"), Verdict.provider_fault("http_401")])
def test_deliver__its_own_fails__the_other_platforms_is_not_asked(verdict, both, google, apple):
    google.verdicts = [verdict]
    finished, _ = delivered(both, ANDROID)

    assert finished.decision.status == Status.PENDING
    assert (len(google.sent), apple.sent) == (1, [])


def test_deliver__nobody_serves_it__ends_clearly_and_uncounted(google):
    finished, _ = delivered(Chain((google,)), IPHONE)

    assert finished.decision.status == Status.DEAD_LETTERED
    assert (finished.decision.error_code, finished.decision.refund) == ("no_provider_for_address", 1)
    assert finished.decision.not_sent
    assert not finished.decision.unconfirmed_provider
    assert google.sent == []


def test_deliver__nobody_serves_it_any_more_and_it_may_have_been_sent__says_that(google):
    finished, _ = delivered(Chain((google,)), IPHONE, standing=Standing(2, 6, unconfirmed_provider="apns"))

    assert (finished.decision.error_code, finished.decision.unconfirmed_provider) == ("UNCONFIRMED", "apns")


def test_collapse__a_repeat__is_harmless_without_end(google):
    assert google.capabilities.repeat_window_seconds == math.inf
    assert not google.capabilities.dedupes
    assert may_send_again(google, 1e9)
    assert Capabilities(60.0).repeat_window_seconds == 60.0
    assert Capabilities(60.0, duplicate_harm=DuplicateHarm.NONE).repeat_window_seconds == math.inf
    assert Capabilities().repeat_window_seconds is None


def test_collapse__answer_lost__is_sent_again_there_even_for_who_would_hold(both, google):
    google.verdicts = [UNSURE]
    finished, _ = delivered(both, ANDROID, standing=Standing(1, 6, HOLD))
    planned = route(both.serving(ANDROID), Standing(2, 6, HOLD, unconfirmed_provider="fcm"), 86_400.0)

    assert (finished.decision.status, finished.decision.unconfirmed_provider) == (Status.PENDING, "fcm")
    assert planned.providers == (google,)


def test_collapse__refusal_of_a_repeat__says_nothing_of_the_copy_before(both, google):
    google.verdicts = [Verdict.rejected("unregistered")]
    finished, _ = delivered(both, ANDROID, standing=Standing(2, 6, HOLD, unconfirmed_provider="fcm"))

    assert (finished.decision.status, finished.decision.error_code) == (Status.DEAD_LETTERED, "UNCONFIRMED")
    assert [hop.verdict.error_code for hop in finished.hops] == ["unregistered"]


@pytest.mark.parametrize(("knows_key", "status"), [(True, Status.FAILED), (False, Status.DEAD_LETTERED)])
def test_after_verdict__refusal_of_a_repeat__counts_for_all_only_where_the_key_is_known(knows_key, status):
    decision = outcome.after_verdict(
        Standing(2, 6, unconfirmed_provider="p"),
        Verdict.rejected("no"),
        provider="p",
        may_send_again=True,
        backoff=Backoff(1, 60),
        dice=random.Random(0),
        knows_key=knows_key,
    )

    assert decision.status == status


def test_safety__of_a_send_without_a_record__is_the_address_own_providers(both, google):
    safety = safety_of({Channel.PUSH: both})
    alone = safety_of({Channel.PUSH: Chain((google,))})

    assert safety(Channel.PUSH, IPHONE, "") == Safety("apns", records_start=False, repeat_window_seconds=math.inf)
    assert safety(Channel.PUSH, ANDROID, "") == Safety("fcm", records_start=False, repeat_window_seconds=math.inf)
    # Nobody serves it, so nothing was begun; a provider that is gone may have begun it.
    assert alone(Channel.PUSH, IPHONE, "") == Safety("", records_start=True, repeat_window_seconds=None)
    assert alone(Channel.PUSH, IPHONE, "apns") == Safety("apns", records_start=False, repeat_window_seconds=None)


@pytest.mark.parametrize(
    ("names", "recipient", "served"),
    [
        (("fcm",), ANDROID, True),
        (("fcm:shop-b",), "fcm-fid:x", True),
        (("fcm",), IPHONE, False),
        (("apns",), ANDROID, False),
        (("fcm", "apns"), IPHONE, True),
        (("apns", "sandbox:a"), ANDROID, True),
        (("fcm", "somebody-elses"), IPHONE, True),  # only who builds it can say
    ],
)
def test_is_served__by_the_names_of_a_chain__as_its_adapters_say(names, recipient, served):
    assert is_served(names, recipient) is served


def test_message__with_a_time_to_live__has_the_databases_instant_and_what_is_left():
    expires = datetime(2031, 1, 1, tzinfo=UTC)  # whatever the clock of this machine says
    row = held(channel=Channel.PUSH, ttl_seconds=30.0, expires_at=expires, rank=Priority.LOW)
    message = message_of(row, {})

    assert message.expires_at == expires
    assert 29.0 < message.ttl_seconds <= 30.0
    assert not message.urgent
    row.expires = elapsed() - 5
    assert message_of(row, {}).ttl_seconds == 0.0


def test_message__without_one__says_so():
    message = message_of(held(), {})

    assert (message.expires_at, message.ttl_seconds, message.urgent) == (None, None, True)


def test_outcome__accepted_after_an_unknown_one__is_sent(both, google):
    finished, _ = delivered(both, ANDROID, standing=Standing(2, 6, HOLD, unconfirmed_provider="fcm"))

    assert finished.hops[0].verdict.outcome is Outcome.ACCEPTED
    assert finished.decision.status == Status.SENT
