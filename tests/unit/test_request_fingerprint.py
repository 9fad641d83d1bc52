"""Which requests are the same."""

import pytest

from notifications.request import fingerprint
from tests.unit.test_request_check import checked


def print_of(channel="EMAIL", **changes):
    return fingerprint(checked(channel, **changes).request)


@pytest.mark.parametrize(
    ("channel", "one", "other"),
    [
        ("EMAIL", {}, {"priority": "NORMAL"}),
        ("EMAIL", {}, {"max_attempts": 6}),
        ("EMAIL", {}, {"on_unconfirmed": "RETRY"}),
        ("EMAIL", {}, {"delay_seconds": 0}),
        ("EMAIL", {}, {"metadata": {}, "reference": "", "user_id": None}),
        ("EMAIL", {"delay_seconds": 5}, {"delay_seconds": 5.0}),
        ("EMAIL", {"recipient": "ada@example.com"}, {"recipient": " ada@EXAMPLE.COM "}),
        ("EMAIL", {"send_at": "2030-02-01T00:00:00Z"}, {"send_at": "2030-02-01T02:00:00.000+02:00"}),
        ("EMAIL", {"metadata": {"a": "1", "b": "2"}}, {"metadata": {"b": "2", "a": "1"}}),
        ("EMAIL", {}, {"idempotency_key": "another"}),
        ("SMS", {"recipient": "+14155550100"}, {"recipient": "+1 415 555 0100"}),
        ("PUSH", {"recipient": "apns:ab"}, {"recipient": "apns:AB"}),
        ("PUSH", {}, {"data": {}}),
    ],
)
def test_fingerprint__same_meaning__is_equal(channel, one, other):
    assert print_of(channel, **one) == print_of(channel, **other)


@pytest.mark.parametrize(
    ("channel", "changes"),
    [
        ("EMAIL", {"recipient": "Ada@example.com"}),
        ("EMAIL", {"subject": "hello"}),
        ("EMAIL", {"body": "x "}),
        ("EMAIL", {"html_body": "x"}),
        ("EMAIL", {"from_name": "x"}),
        ("EMAIL", {"reply_to": "x@example.com"}),
        ("EMAIL", {"priority": "HIGH"}),
        ("EMAIL", {"send_at": "2030-02-01T00:00:00Z"}),
        ("EMAIL", {"delay_seconds": 1}),
        ("EMAIL", {"expires_at": "2030-02-01T00:00:00Z"}),
        ("EMAIL", {"ttl_seconds": 1}),
        ("EMAIL", {"max_attempts": 5}),
        ("EMAIL", {"on_unconfirmed": "HOLD"}),
        ("EMAIL", {"user_id": "x"}),
        ("EMAIL", {"reference": "x"}),
        ("EMAIL", {"metadata": {"a": "b"}}),
        ("PUSH", {"data": {"a": "b"}}),
        ("PUSH", {"collapse_key": "x"}),
    ],
)
def test_fingerprint__any_detail_changed__differs(channel, changes):
    assert print_of(channel, **changes) != print_of(channel)


def test_fingerprint__same_text_in_another_field__differs():
    assert print_of(user_id="x") != print_of(reference="x")


def test_fingerprint__this_version__is_pinned():
    """Stored rows hold it: if it changes, FINGERPRINT_VERSION has to, and old rows are compared the old way."""
    pinned = "8e43eafdf97399ac7cdeb6a324ac791d68dbde9e5ba33f40c01cd0753119b96b"

    assert print_of(metadata={"a": "é"}, delay_seconds=1.5).hex() == pinned
