"""Taking a URL apart without a trap: `urllib` raises for some wrong ones, and mends others in silence."""

from __future__ import annotations

from urllib.parse import SplitResult, urlsplit


def split_url(url: str, schemes: tuple[str, ...]) -> SplitResult | None:
    """The parts of a URL that can be used, or None.

    It has one of the schemes, a host without spaces and, if any, a port from 1 to 65535. Characters that cannot be
    printed, such as line ends, are refused: `urlsplit` drops some, and what was checked would not be what is used.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:  # a port that is no number, or too large a one; half an IPv6 address
        return None
    usable = parts.scheme in schemes and bool(host) and port != 0
    return parts if usable and url.isprintable() and " " not in host else None
