"""Where a vendor's callbacks arrive."""

from __future__ import annotations

from urllib.parse import quote
from uuid import UUID

PATH = "receipts"


def receipt_url(base_url: str, provider: str, key: UUID | None = None) -> str:
    """The address to give to a vendor.

    Args:
        base_url: NOTIFYQ_RECEIPTS_URL, the public address of this service.
        key: for a vendor that repeats nothing of ours but the address it was given with the message.
    """
    address = f"{base_url.rstrip('/')}/{PATH}/{quote(provider, safe=':')}"
    return address if key is None else with_key(address, key)


def with_key(address: str, key: UUID) -> str:
    """The same address, for callbacks about one message."""
    return f"{address}?key={key}"


def spellings(base_url: str, provider: str, query: str) -> tuple[str, ...]:
    """What a vendor may have signed as the address that it called: the colon of a name as it is, or percent-encoded."""
    tail = f"?{query}" if query else ""
    bare = base_url.rstrip("/")
    return tuple(dict.fromkeys(f"{bare}/{PATH}/{quote(provider, safe=safe)}{tail}" for safe in (":", "")))
