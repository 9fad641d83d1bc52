"""Numbers as people write them in settings and on command lines."""

from __future__ import annotations

from argparse import ArgumentTypeError

import pytest

from notifications.errors import ConfigurationError
from notifyq.env import Environment
from notifyq.runtime.numerals import between

NOT_PLAIN = ["٣", "\uff13", "1_0", "³", "0x3", "", "three"]


@pytest.mark.parametrize("text", [*NOT_PLAIN, "3.0", "0", "11"])
def test_argument__not_a_whole_number_in_plain_digits_or_not_in_bounds__is_refused_with_the_bounds(text):
    with pytest.raises(ArgumentTypeError, match=r"^must be a port from 1 to 10$"):
        between(1, 10, "a port")(text)


def test_argument__in_bounds__is_its_number():
    assert [between(1, 10)(text) for text in ("1", "10")] == [1, 10]


@pytest.mark.parametrize("text", [t for t in NOT_PLAIN if t])
def test_setting__not_in_plain_digits__is_refused_by_name(text):
    env = Environment({"NOTIFYQ_MAX_ATTEMPTS": text, "NOTIFYQ_POLL_SECONDS": text})
    with pytest.raises(ConfigurationError, match=r"^NOTIFYQ_MAX_ATTEMPTS must be a whole number$"):
        env.whole("MAX_ATTEMPTS")
    with pytest.raises(ConfigurationError, match=r"^NOTIFYQ_POLL_SECONDS must be a number$"):
        env.number("POLL_SECONDS")


@pytest.mark.parametrize(("text", "value"), [("12", 12), (" 7 ", 7)])
def test_setting__in_plain_digits__is_its_number(text, value):
    assert Environment({"NOTIFYQ_MAX_ATTEMPTS": text}).whole("MAX_ATTEMPTS") == value
    assert Environment({"NOTIFYQ_POLL_SECONDS": f"{text.strip()}.5e1"}).number("POLL_SECONDS") == value * 10 + 5
