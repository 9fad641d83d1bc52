"""Which limit holds for whom. Pure, no database."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Limit:
    """At most `count` sends in any `window_seconds`."""

    count: int
    window_seconds: float


@dataclass(frozen=True, slots=True)
class Bucket:
    """What is counted together: one recipient on one channel, over all clients or for one client alone.

    Attributes:
        id: stands for the recipient in the ledger, which so holds no address.
        client_id: set when a rule of this client counts its notifications by themselves.
    """

    id: UUID
    channel: str
    client_id: UUID | None
    limit: Limit

    @property
    def lock_key(self) -> int:
        return lock_key(self.id)


@dataclass(frozen=True, slots=True)
class RuleBook:
    """The limits in force.

    Attributes:
        default: for whatever no rule names; None for no limit.
        rules: (channel or empty, client or None) → limit, None for no limit. The most exact one holds: client and
            channel, then client, then channel.
    """

    default: Limit | None
    rules: Mapping[tuple[str, UUID | None], Limit | None]

    def bucket(self, *, channel: str, client_id: UUID, recipient: str) -> Bucket | None:
        """The bucket that a send to `recipient` (in canonical form) counts in; None when it is not limited."""
        own = bool(self.rules) and ((channel, client_id) in self.rules or ("", client_id) in self.rules)
        owner = client_id if own else None
        limit = self.limit_of(channel, owner)
        return None if limit is None else Bucket(_bucket_id(channel, owner, recipient), channel, owner, limit)

    def limit_of(self, channel: str, client_id: UUID | None) -> Limit | None:
        """The limit now in force for a bucket that was made earlier; None when there is none any more."""
        if client_id is None:
            return self.rules.get((channel, None), self.rules.get(("", None), self.default))
        return self.rules.get((channel, client_id), self.rules.get(("", client_id)))


def _bucket_id(channel: str, owner: UUID | None, recipient: str) -> UUID:
    name = "\0".join((channel, str(owner or ""), recipient)).encode()
    return UUID(bytes=hashlib.sha256(name).digest()[:16])


def lock_key(bucket_id: UUID) -> int:
    """A signed 64-bit number for PostgreSQL's advisory locks."""
    first = bucket_id.int >> 64
    return first - (1 << 64) if first >> 63 else first


def in_lock_order(buckets: Iterable[Bucket]) -> list[Bucket]:
    """Each once, in the one order in which their locks may be taken."""
    return sorted({b.id: b for b in buckets}.values(), key=lambda b: (b.lock_key, b.id))
