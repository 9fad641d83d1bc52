"""The rules for one request: check it, bring it into canonical form, fingerprint it. Pure, no database."""

from notifications.request.canonical import FINGERPRINT_VERSION, content_key, fingerprint, group_fingerprint
from notifications.request.check import Checked, Defaults, NotificationRequest, check
from notifications.request.group import CheckedGroup, check_group
from notifications.request.recipients import canonical_filter, canonical_recipient
from notifications.request.times import Schedule, parse_instant

__all__ = [
    "FINGERPRINT_VERSION",
    "Checked",
    "CheckedGroup",
    "Defaults",
    "NotificationRequest",
    "Schedule",
    "canonical_filter",
    "canonical_recipient",
    "check",
    "check_group",
    "content_key",
    "fingerprint",
    "group_fingerprint",
    "parse_instant",
]
