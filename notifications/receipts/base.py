"""The interface between a vendor's callbacks and the queue. Pure: no Django, no database, no clock."""

from __future__ import annotations

import hmac
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID

from notifications.errors import ConfigurationError
from notifications.receipts.status import DeliveryStatus

FRESH_SECONDS: Mapping[str, float] = {
    "mailgun": 12 * 3600.0,  # it repeats a call that failed for eight hours
    "resend": 300.0,  # each repeat is stamped anew
    "sandbox": 3600.0,
    "sendgrid": 25 * 3600.0,  # it repeats for 24 hours
    "ses": 25 * 3600.0,  # SNS repeats for an hour, and longer where the topic says so
    "vonage": 25 * 3600.0,  # it repeats for 24 hours, and does not say whether the token is made anew
}
"""How old a signed time may be, by kind. The signatures of the others hold none: a repeat of theirs changes nothing."""
CLOCKS_DIFFER_SECONDS = 300.0
"""A timestamp so far in the future is still one of now."""


@dataclass(frozen=True, slots=True)
class Call:
    """One request of a vendor, as it came in. Its `repr` hides what may be private.

    Attributes:
        urls: the address that the vendor called, with its query, in every spelling that it may have signed.
        headers: by name in lower case.
    """

    urls: tuple[str, ...] = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Receipt:
    """One thing that a vendor reports of one message. Made by `receipts.making.receipt`, which bounds the texts.

    Attributes:
        provider: the instance whose callback it is, such as `twilio:eu`.
        key: our key, the notification's id; None when the callback does not carry it.
        provider_message_id: the vendor's own id, as its answer to the send had it; may be empty.
        event_id: the same for each repeat of the same report, and for no other of this provider.
        code: the vendor's own; may be empty.
        text: one line for people, without addresses; may be empty.
        at: when it happened (aware); None when the vendor does not say.
        word: the vendor's own for the status, from a list that is known; may be empty.
    """

    provider: str
    key: UUID | None
    provider_message_id: str
    event_id: str
    status: DeliveryStatus
    code: str = ""
    text: str = ""
    at: datetime | None = None
    word: str = ""


@dataclass(frozen=True, slots=True)
class Received:
    """What a genuine callback comes to.

    Attributes:
        receipts: what it reports of messages; what is none of our business is left out.
        skipped_count: how many items of the call were no objects, and were passed over.
        token: to be taken only once; empty where the signature covers the body.
        confirm_url: to be fetched, for the vendor to begin with its reports; empty when there is nothing to confirm.
    """

    receipts: tuple[Receipt, ...] = ()
    skipped_count: int = 0
    token: str = field(default="", repr=False)
    confirm_url: str = field(default="", repr=False)


class Refused(Exception):
    """Nothing proves that the vendor sent it.

    Attributes:
        reason: one of a few fixed words, for logs and metrics.
    """

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class Unreadable(Exception):
    """The vendor sent it, and it is not what the vendor documents. A repeat would be no better."""


class Unavailable(Exception):
    """It cannot be checked or confirmed now: a server of the vendor's is away. A repeat may succeed.

    Attributes:
        reason: a fixed word, the class of an error, or an HTTP status.
    """

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class Receiver(ABC):
    """Checks and reads the callbacks of one provider instance. One per process, called from many threads at once.

    Attributes:
        kind: as in the registry of providers.
        unreadable_status: the HTTP status that makes this vendor stop repeating what cannot be read.
        good_form: what a secret of this vendor must look like; whatever does not can check nothing.
        good_looks: the same for people, as the end of "the variable must hold …".
    """

    kind: ClassVar[str]
    unreadable_status: ClassVar[int] = 400
    good_form: ClassVar[re.Pattern[str]] = re.compile(r"[!-~]{8,}")
    good_looks: ClassVar[str] = "secrets of at least 8 characters, without spaces"

    def __init__(self, name: str, secrets: Sequence[str]) -> None:
        """
        Args:
            name: the instance, such as `twilio:eu`.
            secrets: any of them is good, so that one can be replaced by another without a gap.

        Raises:
            ValueError: one of them cannot be a secret of this vendor; the text does not repeat it.
        """
        if not all(self.good_form.fullmatch(secret) for secret in secrets):
            raise self.unusable()
        self.name = name
        self._secrets = tuple(secrets)

    @classmethod
    def unusable(cls) -> ValueError:
        """What is raised for a secret that cannot work. It says what one looks like, and does not repeat it."""
        return ValueError(f"must hold {cls.good_looks}")

    @abstractmethod
    def receive(self, call: Call, *, now: datetime) -> Received:
        """Check the signature, then read.

        Args:
            now: aware; what the vendor stamped is compared with it.

        Raises:
            Refused: the signature is missing, wrong or stale.
            Unreadable: it is genuine, and says nothing that can be read.
            Unavailable: it cannot be checked now.
        """

    def confirm(self, url: str) -> None:
        """Fetch the `confirm_url` of what was received. Repeatable.

        Raises:
            Unavailable: the vendor does not take it now.
        """
        raise NotImplementedError(f"nothing of {self.kind} is confirmed")


def same(expected: str, given: str) -> bool:
    """Compare in constant time."""
    return hmac.compare_digest(expected.encode("utf-8", "replace"), given.encode("utf-8", "replace"))


def check_fresh(epoch_seconds: str, now: datetime, kind: str) -> None:
    """
    Args:
        kind: whose timestamp it is, see `FRESH_SECONDS`.

    Raises:
        Refused: the signed timestamp is no number, older than that, or of the future.
    """
    if not (epoch_seconds.isascii() and epoch_seconds.isdigit() and len(epoch_seconds) <= 12):
        raise Refused("stale")
    age_seconds = now.timestamp() - int(epoch_seconds)
    if not -CLOCKS_DIFFER_SECONDS <= age_seconds <= FRESH_SECONDS[kind]:
        raise Refused("stale")


def loads(body: bytes | str) -> Any:
    """The JSON in a body.

    Raises:
        Unreadable: it is none.
    """
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise Unreadable("the body is no JSON") from None


def signed_object(body: bytes) -> dict[str, Any]:
    """The object in a body whose signature stands inside.

    Raises:
        Refused: it is no object, so it has no signature.
    """
    try:
        found = loads(body)
    except Unreadable:
        found = None
    if not isinstance(found, dict):
        raise Refused("no_signature")
    return found


def received_of(items: Any, read: Callable[[dict[str, Any]], Receipt | None]) -> Received:
    """What the items of a list come to. One that is no object costs the others nothing: it is passed over and counted.

    Args:
        read: makes a receipt of one item; None for what is none of our business.

    Raises:
        Unreadable: it is no list, or nothing in it is an object.
    """
    objects = [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
    if not objects and items != []:
        raise Unreadable("the body is no list of objects")
    made = [read(item) for item in objects]
    return Received(tuple(found for found in made if found is not None), skipped_count=len(items) - len(objects))


def part(value: Mapping[str, Any], name: str) -> dict[str, Any]:
    """An object inside another; an empty one where there is none."""
    inner = value.get(name)
    return inner if isinstance(inner, dict) else {}


def misconfigured(variable: str, problem: object) -> ConfigurationError:
    return ConfigurationError(f"{variable} {problem}")
