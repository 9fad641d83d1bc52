import pytest

from notifyq.sandbox.magic import Magic, recognise


@pytest.mark.parametrize(
    ("channel", "recipient", "expected"),
    [
        ("EMAIL", "reject@example.org", Magic.REJECT),
        ("EMAIL", "Temporary-Twice@EXAMPLE.org", Magic.TEMPORARY_TWICE),
        ("EMAIL", "ok@example.org", Magic.OK),
        ("EMAIL", "reject.me@example.org", None),
        ("EMAIL", "ada@reject", None),
        ("EMAIL", "0001@example.org", None),
        ("SMS", "+491511230001", Magic.REJECT),
        ("SMS", "+491511230009", Magic.POISON),
        ("SMS", "+491511230008", None),
        ("SMS", "+491511200010", None),
        ("SMS", "reject", None),
        ("PUSH", "fcm:hang", Magic.HANG),
        ("PUSH", "fcm-fid:accept-then-500", Magic.ACCEPT_THEN_500),
        ("PUSH", "apns:rate-limit", Magic.RATE_LIMIT),
        ("PUSH", "fcm:hanger", None),
        ("PUSH", "hang", None),
    ],
)
def test_recipient__of_a_channel__forces_its_outcome(channel, recipient, expected):
    assert recognise(channel, recipient) is expected
