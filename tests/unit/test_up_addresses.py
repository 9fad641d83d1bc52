"""The request that `up` shows to be copied goes to nobody real."""

from io import StringIO

import pytest
from django.core.management.base import OutputWrapper
from django.core.management.color import no_style

from notifications.channel import Channel
from notifyq.up.addresses import show_trial
from notifyq.up.screen import Screen

REAL = {Channel.SMS: ["twilio"], Channel.EMAIL: ["sendgrid", "mailgun"], Channel.PUSH: ["fcm"]}


@pytest.mark.parametrize(
    ("channels", "shown"),
    [((), "SMS"), (("SMS",), "EMAIL"), (("SMS", "EMAIL"), "PUSH"), (("SMS", "EMAIL", "PUSH"), "IN_APP")],
)
def test_trial__some_channels_reach_somebody__is_for_one_that_does_not(channels, shown):
    out = StringIO()
    show_trial(Screen(OutputWrapper(out), no_style()), "http://127.0.0.1:8000", "k", {c: REAL[c] for c in channels})

    text = out.getvalue()
    assert f'"channel": "{shown}"' in text
    assert ("reaches the recipient that you name" in text) == bool(channels)
    assert all(f"{channel} goes to {', '.join(REAL[channel])}" in text for channel in channels)
