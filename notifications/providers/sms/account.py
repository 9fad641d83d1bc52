"""What the settings of text message vendors have in common: the sender, the address for receipts. Pure."""

from __future__ import annotations

import re

import phonenumbers

from notifications.errors import ConfigurationError
from notifications.providers.base import ProviderSettings
from notifications.receipts.addresses import checked_base, receipt_url

# A short code, or a name of up to eleven characters with a letter in it (3GPP TS 23.040 §9.1.2.5).
_SHORT_CODE = re.compile(r"[0-9]{3,8}")
_NAME = re.compile(r"(?=.*[A-Za-z])[A-Za-z0-9 _&+.\-]{1,11}")
_NUMBER = re.compile(r"\+[0-9]{5,15}")


def sender(
    settings: ProviderSettings, prefix: str, *, optional: bool = False, also: str = "", plus_optional: bool = True
) -> str:
    """Who the messages are from: the instance's own _FROM, else SMS_FROM.

    Args:
        prefix: what the names of the instance's settings begin with.
        optional: whether both may be missing; the account's own sender is used then.
        also: a pattern of what else the vendor takes.
        plus_optional: whether the vendor takes a phone number without its plus sign.

    Raises:
        ConfigurationError: missing, or no sender that a text message can have.
    """
    own, shared = settings.text(f"{prefix}_FROM", "").strip(), settings.text("SMS_FROM", "").strip()
    value, variable = (own, f"{prefix}_FROM") if own else (shared, "SMS_FROM")
    if not value and not optional:
        raise ConfigurationError(
            f"NOTIFYQ_{prefix}_FROM is not set, nor is NOTIFYQ_SMS_FROM; one must be a sender such as +14155550100"
        )
    if value and not (_is_sender(value, plus_optional) or (also and re.fullmatch(also, value))):
        raise ConfigurationError(
            f"NOTIFYQ_{variable} must be a phone number such as +14155550100, a short code, "
            "or a name of at most 11 letters and digits"
        )
    return value


def _is_sender(value: str, plus_optional: bool) -> bool:
    if _SHORT_CODE.fullmatch(value) or _NAME.fullmatch(value):
        return True
    number = value if value.startswith("+") or not plus_optional else f"+{value}"
    return bool(_NUMBER.fullmatch(number)) and _is_possible(number)


def _is_possible(number: str) -> bool:
    """Whether the country has numbers of this length. Which ranges are in use changes, and is the vendor's to say."""
    try:
        parsed = phonenumbers.parse(number, None)
    except phonenumbers.NumberParseException:
        return False
    return phonenumbers.is_possible_number_with_reason(parsed) == phonenumbers.ValidationResult.IS_POSSIBLE


def receipts_address(settings: ProviderSettings, name: str) -> str:
    """Where the vendor is to report to about messages of the instance called `name`; empty where nobody listens.

    Reads RECEIPTS_URL, the public address under which the API is reached.

    Raises:
        ConfigurationError: see `checked_base`.
    """
    if not settings.text("RECEIPTS_URL", "").strip():
        return ""
    return receipt_url(checked_base(settings.url("RECEIPTS_URL", schemes=("https", "http"))), name)


def digits(phone: str) -> str:
    """A phone number as vendors want it that take no plus sign."""
    return phone.removeprefix("+")
