"""The secrets of the installation: too short a one is refused, or warned of, and never repeated."""

from __future__ import annotations

import pytest
from django.test import override_settings

from notifications.errors import ConfigurationError
from notifyq.checks import check_secret_key
from notifyq.env import Environment
from notifyq.secret_settings import encryption_keys


@pytest.mark.parametrize("keys", ["a", f"s3same,{'x' * 32}", "s3same" * 5])
def test_encryption_keys__the_first_too_short__are_refused(keys):
    with pytest.raises(ConfigurationError, match=r"^NOTIFYQ_ENCRYPTION_KEYS must begin with") as wrong:
        encryption_keys(Environment({"NOTIFYQ_ENCRYPTION_KEYS": keys}))
    assert "s3same" not in str(wrong.value)


def test_encryption_keys__an_old_one_behind__may_be_of_any_length():
    env = Environment({"NOTIFYQ_ENCRYPTION_KEYS": f"{'x' * 32},old"})
    assert encryption_keys(env) == ["x" * 32, "old"]
    assert encryption_keys(Environment({})) == []


@pytest.mark.parametrize(
    ("key", "debug", "ids"), [("a", False, ["notifyq.W003"]), ("a", True, []), ("x" * 32, False, [])]
)
def test_secret_key__too_short_where_others_come__is_warned_of(key, debug, ids):
    with override_settings(SECRET_KEY=key, DEBUG=debug):
        found = check_secret_key()
    assert [message.id for message in found] == ids
