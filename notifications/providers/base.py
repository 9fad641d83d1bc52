"""The interface between the workers and a vendor. Pure: no Django, no database, no clock.

An adapter translates one message into one request and one answer into one verdict, and decides nothing else: no
retry, no waiting, no fallback. A new provider is one file with a subclass of `Provider` and one line in `registry`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import ClassVar, Protocol, Self
from uuid import UUID

from notifications.channel import Channel
from notifications.providers.setting_names import SettingNames
from notifications.verdict import Finding, Verdict


class DuplicateHarm(StrEnum):
    """What a second copy costs the person or the payer."""

    NONE = "NONE"
    """The device shows one: copies under the same key collapse there."""
    VISIBLE = "VISIBLE"
    PAID = "PAID"


class FoundBy(StrEnum):
    """How a vendor finds the message that is asked about."""

    KEY = "KEY"
    """By our key: what it says is about this very message."""
    MATCH = "MATCH"
    """By recipient, time and content: only exactly one match counts."""


@dataclass(frozen=True, slots=True)
class Lookup:
    """How a vendor can be asked what became of a message whose answer was lost.

    Attributes:
        by: see `FoundBy`.
        settle_seconds: for so long after a send "no such message" proves nothing, and nobody asks.
        horizon_seconds: after that the vendor knows no more, and an unknown outcome stays unknown.
    """

    by: FoundBy
    settle_seconds: float
    horizon_seconds: float

    def wait_seconds(self, age_seconds: float) -> float | None:
        """How long to wait with the first question about a send; None when it is `age_seconds` old and beyond the
        horizon by that."""
        return self.settle_seconds if age_seconds < self.horizon_seconds else None


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What the engine may rely on, so that it needs no branch per vendor.

    Attributes:
        dedupe_window_seconds: how long the vendor drops repeats of our key; None when it never does.
        lookup: the vendor can be asked about a message; None when it cannot.
        receipts_carry_key: its callbacks name our key.
        duplicate_harm: see `DuplicateHarm`.
        sends_at_settle: nothing is sent before the transaction that settles the verdict; what was not settled was
            certainly not sent.
    """

    dedupe_window_seconds: float | None = None
    lookup: Lookup | None = None
    receipts_carry_key: bool = False
    duplicate_harm: DuplicateHarm = DuplicateHarm.VISIBLE
    sends_at_settle: bool = False

    @property
    def dedupes(self) -> bool:
        """The vendor knows our key: it drops a repeat, and what it says of one it says of the copies before."""
        return self.dedupe_window_seconds is not None

    @property
    def repeat_window_seconds(self) -> float | None:
        """For so long after the first send a repeat under the same key does no harm: the vendor drops it, or, without
        end, the device collapses the copies. None when it never is harmless."""
        return math.inf if self.duplicate_harm is DuplicateHarm.NONE else self.dedupe_window_seconds


@dataclass(frozen=True, slots=True)
class Message:
    """All an adapter may know of a notification. Its `repr` hides the private parts.

    Attributes:
        id: the notification's id, also the provider's idempotency key on every attempt.
        recipient: canonical form (mailbox, E.164 phone, typed device address, user id).
        html_body, from_name, reply_to, collapse_key, subject: empty when absent.
        data: flat string pairs for PUSH and IN_APP.
        serial: a key for vendors that take only a number: 1 to 2**31 - 1, the same on every attempt, no other
            message's until the sequence has gone once round. 0 when it has none.
        attempt_number: 1 for the first; the same message may be sent again under the same id.
        expires_at: when it is of no more use (aware UTC, by the database's clock); None when it always is of use.
        ttl_seconds: the same as a span, from the making of this object; for vendors that want one, as it does not
            depend on the clock of the worker's machine.
        urgent: False for what may wait until a device wakes up by itself.
        sender: the client's own sending settings where it has any (`smtp_url`, `email_from`), already decrypted.
    """

    id: UUID
    channel: Channel
    recipient: str = field(repr=False)
    body: str = field(repr=False)
    subject: str = field(default="", repr=False)
    html_body: str = field(default="", repr=False)
    data: Mapping[str, str] = field(default_factory=dict, repr=False)
    from_name: str = field(default="", repr=False)
    reply_to: str = field(default="", repr=False)
    collapse_key: str = field(default="", repr=False)
    serial: int = 0
    attempt_number: int = 1
    expires_at: datetime | None = None
    ttl_seconds: float | None = None
    urgent: bool = True
    sender: Mapping[str, str] = field(default_factory=dict, repr=False)


class ProviderSettings(Protocol):
    """Where an adapter reads its settings; names are given without the NOTIFYQ_ prefix.

    Every method raises ConfigurationError with one line that names the variable when the value is wrong, and, where
    no default is given, when it is missing.
    """

    def text(self, name: str, default: str | None = None) -> str: ...
    def flag(self, name: str, default: bool | None = None) -> bool: ...
    def number(self, name: str, default: float | None = None) -> float: ...
    def url(self, name: str, default: str | None = None, *, schemes: tuple[str, ...] = ("http", "https")) -> str: ...


class Provider(ABC):
    """One configured vendor account. One instance per process, called from many threads at once.

    Attributes:
        kind: the registry's name for the adapter, such as `smtp`.
        channels: what it can carry.
        name: the instance's name in a chain, such as `sandbox` or `sandbox:a`; stored on attempts.
        capabilities: see `Capabilities`.
        usual_lookup: how its vendor can be asked, as far as that is known without its settings: they may turn it off,
            or wait longer. None when it never can, or where the adapter does not say.
        setting_names: what its settings are called. None where the adapter does not say: then whatever begins like
            them is taken to be one.
    """

    kind: ClassVar[str]
    channels: ClassVar[frozenset[Channel]]
    setting_names: ClassVar[SettingNames | None] = None
    usual_lookup: ClassVar[Lookup | None] = None

    def __init__(self, name: str, capabilities: Capabilities) -> None:
        self.name = name
        self.capabilities = capabilities

    @classmethod
    @abstractmethod
    def from_settings(cls, name: str, settings: ProviderSettings) -> Self:
        """Build the instance called `name`.

        Raises:
            ConfigurationError: a setting it needs is missing or wrong.
        """

    @classmethod
    def carries(cls, recipient: str) -> bool:
        """Whether it serves this address of its channels, such as the devices of one platform.

        Args:
            recipient: in canonical form.
        """
        return True

    @abstractmethod
    def send(self, message: Message, *, timeout_seconds: float) -> Verdict:
        """Make one request, once, and say what the answer means.

        Args:
            message: what to send; `message.id` is the idempotency key.
            timeout_seconds: bound on the whole call, from now to the verdict.

        Returns:
            A verdict. ACCEPTED only with the vendor's proof; whatever is neither proof nor certain refusal is
            UNCONFIRMED. Trouble on the network is a verdict too, never an exception.
        """

    def look_up(self, message: Message, *, since: datetime, timeout_seconds: float) -> Finding:
        """Ask the vendor what became of a message whose answer was lost. Changes nothing there.

        Only called where `capabilities.lookup` says that it can be asked.

        Args:
            message: as it was sent.
            since: an instant (aware UTC) no later than the first send that is in doubt.
            timeout_seconds: bound on the whole call, or calls.

        Returns:
            What the vendor says; UNKNOWN for whatever is not plainly one of the others, trouble on the network too.
        """
        raise NotImplementedError(f"{self.kind} cannot be asked")

    def is_senders_own(self, sender: Mapping[str, str]) -> bool:
        """Whether a message with these sending settings of its client goes through an account of the client's own: what
        comes of it says nothing of ours."""
        return False

    def close(self) -> None:  # noqa: B027 (optional hook: most adapters hold nothing)
        """Let go of connections. Called once, when the worker ends."""
