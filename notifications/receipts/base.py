"""The interface between a vendor's callbacks and the queue. Pure: no Django, no database, no clock."""

from __future__ import annotations

import hmac
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID

from notifications.errors import ConfigurationError
from notifications.receipts.status import DeliveryStatus

SECRET_MIN_LENGTH = 8
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
    """

    provider: str
    key: UUID | None
    provider_message_id: str
    event_id: str
    status: DeliveryStatus
    code: str = ""
    text: str = ""
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Received:
    """What a genuine callback comes to.

    Attributes:
        receipts: what it reports of messages; what is none of our business is left out.
        token: to be taken only once; empty where the signature covers the body.
        confirm_url: to be fetched, for the vendor to begin with its reports; empty when there is nothing to confirm.
    """

    receipts: tuple[Receipt, ...] = ()
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
    """

    kind: ClassVar[str]
    unreadable_status: ClassVar[int] = 400

    def __init__(self, name: str, secrets: Sequence[str]) -> None:
        """
        Args:
            name: the instance, such as `twilio:eu`.
            secrets: any of them is good, so that one can be replaced by another without a gap.

        Raises:
            ValueError: one of them cannot be a secret of this vendor; the text does not repeat it.
        """
        if any(len(secret) < SECRET_MIN_LENGTH for secret in secrets):
            raise ValueError(f"must hold secrets of at least {SECRET_MIN_LENGTH} characters")
        self.name = name
        self._secrets = tuple(secrets)

    @abstractmethod
    def receive(self, call: Call, *, now: datetime) -> Received:
        """Check the signature, then read.

        Args:
            now: aware; what the vendor stamped is compared with it.

        Raises:
            Refused: the signature is missing, wrong or stale.
            Unreadable: it is genuine, or cannot even be checked, and says nothing that can be read.
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


def check_fresh(epoch_seconds: str, now: datetime, most_seconds: float) -> None:
    """
    Raises:
        Refused: the signed timestamp is no number, older than that, or of the future.
    """
    if not (epoch_seconds.isascii() and epoch_seconds.isdigit() and len(epoch_seconds) <= 12):
        raise Refused("stale")
    age_seconds = now.timestamp() - int(epoch_seconds)
    if not -CLOCKS_DIFFER_SECONDS <= age_seconds <= most_seconds:
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


def objects(value: Any) -> list[dict[str, Any]]:
    """The objects of a list.

    Raises:
        Unreadable: it is no list of objects.
    """
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise Unreadable("the body is no list of objects")
    return value


def part(value: Mapping[str, Any], name: str) -> dict[str, Any]:
    """An object inside another; an empty one where there is none."""
    inner = value.get(name)
    return inner if isinstance(inner, dict) else {}


def misconfigured(variable: str, problem: object) -> ConfigurationError:
    return ConfigurationError(f"{variable} {problem}")
