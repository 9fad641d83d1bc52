"""How long one call may take, channel by channel."""

from __future__ import annotations

import pytest

from notifications.channel import Channel
from notifications.delivery.attempt import Deliverer
from notifications.delivery.controls import Controls
from notifications.errors import ConfigurationError
from notifications.outcome import Standing
from notifications.providers.base import Message
from notifications.retry import Backoff
from notifications.verdict import Finding, Verdict
from notifyq.env import Config, Environment
from tests.support.askable import Askable, chains_of
from tests.support.held import held


def load(**values: str) -> Config:
    return Config.load(Environment({f"NOTIFYQ_{name}": value for name, value in values.items()}))


class Timed(Askable):
    """Notes how long it may take."""

    def __init__(self) -> None:
        super().__init__(Finding.absent())
        self.allowed_seconds: list[float] = []

    def send(self, message: Message, *, timeout_seconds: float) -> Verdict:
        self.allowed_seconds.append(timeout_seconds)
        return Verdict.accepted("m")


def test_settings__of_one_channel__leave_the_others_as_all_are() -> None:
    config = load(SEND_TIMEOUT_SECONDS="4", SEND_TIMEOUT_SECONDS_SMS="7")
    assert config.send_timeouts == dict.fromkeys(Channel, 4.0) | {Channel.SMS: 7.0}
    assert config.send_timeout_seconds == 7.0


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"SEND_TIMEOUT_SECONDS": "9"}, "NOTIFYQ_SEND_TIMEOUT_SECONDS (9)"),
        ({"SEND_TIMEOUT_SECONDS": "2", "SEND_TIMEOUT_SECONDS_PUSH": "9"}, "NOTIFYQ_SEND_TIMEOUT_SECONDS_PUSH (9)"),
    ],
)
def test_settings__longer_than_the_lease__stop_the_start_by_name(values: dict[str, str], named: str) -> None:
    with pytest.raises(ConfigurationError, match=r"NOTIFYQ_LEASE_SECONDS \(5\)") as refused:
        load(LEASE_SECONDS="5", **values)
    assert named in str(refused.value)


@pytest.mark.parametrize(
    ("timeouts", "allowed"), [({}, 1.0), ({Channel.EMAIL: 0.25}, 0.25), ({Channel.PUSH: 0.5}, 1.0)]
)
def test_deliver__its_call__may_take_what_its_channel_may(timeouts: dict[Channel, float], allowed: float) -> None:
    vendor = Timed()
    deliverer = Deliverer(
        chains_of(vendor),
        Backoff(1, 60),
        1.0,
        lambda *_: True,
        lambda _: {},
        Controls(),
        send_timeouts=timeouts,
    )
    deliverer.deliver(held(standing=Standing(1, 6)))
    assert vendor.allowed_seconds == [allowed]
