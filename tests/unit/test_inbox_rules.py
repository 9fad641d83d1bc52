"""What is special about IN_APP, without a database: its provider, its chain, and pushes that lost their device."""

from uuid import uuid4

import pytest

from notifications.channel import Channel
from notifications.delivery.upkeep import safety_of
from notifications.outcome import Decision
from notifications.providers import chains
from notifications.providers.base import Message
from notifications.providers.push import devices
from notifications.push_target import NO_PUSH_TARGET, lost_its_device, told_by_its_copy
from notifications.status import Status
from notifications.verdict import Outcome, Verdict
from notifyq.env import Config, Environment


@pytest.fixture
def built():
    config = Config.load(Environment({"NOTIFYQ_IN_APP_PROVIDERS": "sandbox", "NOTIFYQ_MAX_ATTEMPTS_IN_APP": "3"}))
    assert config.max_attempts[Channel.IN_APP] == 3
    made = chains.build(config.provider_chains, Environment({}))
    yield made
    chains.close(made)


def test_chain__of_the_inbox__is_the_inbox_whatever_is_set(built):
    assert [p.name for p in built[Channel.IN_APP].providers] == ["inbox"]


def test_provider__of_the_inbox__accepts_with_the_notifications_id_as_proof(built):
    message = Message(id=uuid4(), channel=Channel.IN_APP, recipient="ada", body="Hello")

    verdict = built[Channel.IN_APP].first.send(message, timeout_seconds=1)

    assert (verdict.outcome, verdict.provider_message_id) == (Outcome.ACCEPTED, str(message.id))


def test_rescue__of_what_was_meant_for_the_inbox__knows_that_it_was_not_sent_without_a_record(built):
    chain = built[Channel.IN_APP]

    assert not chain.records_start(chain.first)
    assert safety_of(built)(Channel.IN_APP, "ada", "").records_start


GONE = ["recipient_rejected", devices.UNREGISTERED, devices.EXPIRED, devices.INVALID, devices.FOREIGN]


@pytest.mark.parametrize("code", GONE)
def test_push__rejected_for_its_device__has_lost_it(code):
    assert lost_its_device(Decision(Status.FAILED, error_code=code))


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (Status.FAILED, "content_rejected"),
        (Status.FAILED, "payload_too_large"),
        (Status.FAILED, ""),
        (Status.SENT, "unregistered"),
        (Status.PENDING, "unregistered"),
        (Status.DEAD_LETTERED, "unregistered"),
        (Status.DEAD_LETTERED, "UNCONFIRMED"),
        (Status.RECONCILING, "timeout"),
    ],
)
def test_push__that_ended_otherwise_or_not_at_all__has_not_lost_its_device(status, code):
    assert not lost_its_device(Decision(status, error_code=code))


def test_push__told_by_its_copy__is_sent_with_the_reason_and_without_a_provider():
    rejected = Verdict.rejected("unregistered", "gone")
    decision = Decision(Status.FAILED, error_code=rejected.error_code, error_message="gone", not_sent=True)

    told = told_by_its_copy(decision)

    assert (told.status, told.error_code, told.provider, told.not_sent) == (Status.SENT, NO_PUSH_TARGET, "", True)
