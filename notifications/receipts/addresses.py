"""Where a vendor's callbacks arrive."""

from __future__ import annotations

import ipaddress
from urllib.parse import quote, urlsplit
from uuid import UUID

from notifications.errors import ConfigurationError

PATH = "receipts"


def checked_base(base_url: str) -> str:
    """NOTIFYQ_RECEIPTS_URL as it can be used, without a slash at its end.

    Args:
        base_url: a URL with http:// or https:// and a host.

    Raises:
        ConfigurationError: what vendors send would go over the network in the clear, secrets in it; or there is
            something behind the path, or before the host. Within this machine http:// will do, to try it.
    """
    parts = urlsplit(base_url)
    is_safe = parts.scheme == "https" or _is_this_machine(parts.hostname or "")
    if not is_safe or parts.query or parts.fragment or parts.username is not None:
        raise ConfigurationError(
            "NOTIFYQ_RECEIPTS_URL must be https://, a host and at most a path "
            "(http:// only for this machine, such as http://127.0.0.1:8000)"
        )
    return base_url.rstrip("/")


def _is_this_machine(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


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
