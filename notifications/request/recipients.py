"""Addresses: valid for their channel, and in one canonical form, so that the same person counts as the same."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import phonenumbers
from email_validator import EmailNotValidError, validate_email

from notifications.channel import Channel
from notifications.request.fields import LABEL_MAX_LENGTH, Invalid, storable, within

PUSH_MAX_LENGTH = 1024
PUSH_PREFIXES = ("fcm-fid:", "fcm:", "apns:")
INBOX_WORDS = ("unread-count", "read-all", "read")
"""What may follow a user id in the address of an inbox."""

_RESERVED_DOMAINS = (".test", ".local", ".localhost", ".invalid")
_ORDINARY = ".example"
_PHONE = re.compile(r"\+[0-9][0-9 ().\-]{0,40}")
_FCM_TOKEN = re.compile(r"[A-Za-z0-9_:.\-]+")
_APNS_TOKEN = re.compile(r"(?:[0-9a-fA-F]{2})+")


def canonical_recipient(channel: Channel, value: object) -> str:
    """The address in canonical form.

    Raises:
        Invalid: no valid address of this channel.
    """
    text = storable(value).strip(" ")
    if not text:
        raise Invalid("required", "is required")
    return _CANONICAL[channel](text)


def canonical_filter(value: str, channel: Channel | None = None) -> str:
    """The canonical form of an address whose channel has to be read off it.

    Args:
        channel: a user id is only read as one for IN_APP, as it may look like any address.

    Raises:
        Invalid: it is no address of any channel.
    """
    if channel is Channel.IN_APP:
        return canonical_recipient(channel, value)
    text = value.strip(" ")
    if text.startswith(PUSH_PREFIXES):
        return canonical_recipient(Channel.PUSH, text)
    if "@" in text:
        return canonical_recipient(Channel.EMAIL, text)
    if text.startswith("+"):
        return canonical_recipient(Channel.SMS, text)
    message = "must be a mailbox address, a phone number with +, a device address, or with channel=IN_APP a user id"
    raise Invalid("not_an_address", message)


def canonical_email(text: str) -> str:
    """A bare mailbox; the domain in lower case and IDNA form, the local part as it was given.

    Nothing is looked up, and names for tests and of private networks pass: who runs the relay knows them.

    Raises:
        Invalid: not a mailbox address.
    """
    within(text, max_length=320)
    reserved = f".{text.rpartition('@')[2].lower()}".endswith(_RESERVED_DOMAINS)
    try:
        # The library refuses reserved domains by a list that is global to the process; as a part of an ordinary
        # domain it checks everything else about them.
        parsed = validate_email(text + _ORDINARY * reserved, check_deliverability=False, strict=True)
    except EmailNotValidError:
        # Its own text may repeat parts of the address.
        raise Invalid("not_an_email_address", "must be a mailbox address such as name@example.com") from None
    domain = parsed.ascii_domain.lower().removesuffix(_ORDINARY if reserved else "")
    if "." not in domain and domain != "localhost":
        raise Invalid("not_an_email_address", "must be a mailbox address with a full domain name")
    return f"{parsed.local_part}@{domain}"


def canonical_phone(text: str) -> str:
    """E.164; spaces, dots, hyphens and brackets between the digits are dropped.

    "Possible" (length and country code fit the numbering plan) is asked for and not "valid" (the block is assigned):
    plans change faster than a library's tables, a real number must not be refused for it, and reserved test numbers
    have to pass. Whether it exists is for the provider to say.

    Raises:
        Invalid: no phone number in international form.
    """
    if not _PHONE.fullmatch(text):
        raise Invalid("not_a_phone_number", "must be a phone number in E.164 form such as +14155550100")
    try:
        number = phonenumbers.parse(text, None)
    except phonenumbers.NumberParseException:
        raise Invalid("not_a_phone_number", "must begin with + and a country code that exists") from None
    # A number that can be dialled only within its area is not one that the world can reach.
    if phonenumbers.is_possible_number_with_reason(number) != phonenumbers.ValidationResult.IS_POSSIBLE:
        raise Invalid("not_a_phone_number", "must have as many digits as numbers of its country have")
    return str(phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164))


def canonical_device(text: str) -> str:
    """`fcm:` or `fcm-fid:` with a registration token or installation id, or `apns:` with a token in hexadecimal.

    Raises:
        Invalid: no device address.
    """
    within(text, max_length=PUSH_MAX_LENGTH)
    prefix = next((p for p in PUSH_PREFIXES if text.startswith(p)), None)
    if prefix is None:
        raise Invalid("not_a_device_address", "must begin with fcm:, fcm-fid: or apns:")
    token = text.removeprefix(prefix)
    if prefix != "apns:" and _FCM_TOKEN.fullmatch(token):
        return text
    if prefix == "apns:" and _APNS_TOKEN.fullmatch(token):
        return prefix + token.lower()
    kind = "hexadecimal bytes" if prefix == "apns:" else "letters, digits and the characters _ - : ."
    raise Invalid("not_a_device_address", f"must have a token of {kind} after {prefix}")


def canonical_user(text: str) -> str:
    """The client's own name for a person, as it is: printable, and fit to stand in the address of that inbox.

    Raises:
        Invalid: too long, not printable, or it could not be told from another address, see `_unreachable`.
    """
    within(text, max_length=LABEL_MAX_LENGTH)
    if not text.isprintable():
        raise Invalid("not_printable", "must consist of printable characters")
    if _unreachable(text.split("/")):
        message = (
            "must be fit for an address: between slashes no empty, . or .. part, and no word of the inbox at its end"
        )
        raise Invalid("not_a_user_id", message)
    return text


def _unreachable(parts: list[str]) -> bool:
    """Programs drop empty and dotted parts of an address on the way, and `ada/read-all` would be another call."""
    return any(part in ("", ".", "..") for part in parts) or (len(parts) > 1 and parts[-1] in INBOX_WORDS)


_CANONICAL: Mapping[Channel, Callable[[str], str]] = {
    Channel.EMAIL: canonical_email,
    Channel.SMS: canonical_phone,
    Channel.PUSH: canonical_device,
    Channel.IN_APP: canonical_user,
}
