"""Which addresses a webhook may go to. Pure.

A URL says little: a name may resolve to anything, and to something else the second time. What counts is the address
that a connection is made to, and it is judged right before that (`is_public`). The look at the URL when an endpoint is
created (`check_url`) is there to tell its owner early.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from urllib.parse import urlsplit

from urllib3.exceptions import LocationParseError
from urllib3.util import parse_url

URL_MAX_LENGTH = 2048
_LOW_PORTS = frozenset({80, 443})
_LOCAL_SUFFIXES = (".localhost", ".local", ".internal", ".home.arpa", ".test", ".invalid", ".onion")
_PRINTABLE = re.compile(r"[!-~]+")

_GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
# Public by number, private by use, or a way to reach an IPv4 address that would not be looked at.
_REFUSED_V6 = tuple(ipaddress.IPv6Network(n) for n in ("2001::/32", "2002::/16", "2001:db8::/32", "3fff::/20"))
_REFUSED_V4 = tuple(
    ipaddress.IPv4Network(n)
    for n in (
        "100.64.0.0/10",  # carrier-grade NAT, also Alibaba's metadata service
        "168.63.129.16/32",  # Azure's host service, public by number only
        "192.0.0.0/24",
        "192.88.99.0/24",  # relays to 6to4
        "198.18.0.0/15",
        "240.0.0.0/4",
    )
)


class Refused(ValueError):
    """What is wrong with a URL: a code and a sentence that does not repeat the URL."""

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        self.message = message
        super().__init__(message)


def is_public(address: str) -> bool:
    """Whether this numeric address is one of the public Internet; whatever is not certainly so is not.

    Args:
        address: IPv4 or IPv6 as `getaddrinfo` gives it.
    """
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(parsed, ipaddress.IPv4Address):
        return _is_public_v4(parsed)
    if parsed.ipv4_mapped is not None:
        return _is_public_v4(parsed.ipv4_mapped)
    if parsed in _NAT64:  # where there is no IPv4, this is how a public IPv4 host looks
        return _is_public_v4(ipaddress.IPv4Address(int(parsed) & 0xFFFF_FFFF))
    return parsed in _GLOBAL_UNICAST and parsed.is_global and not any(parsed in net for net in _REFUSED_V6)


def _is_public_v4(address: ipaddress.IPv4Address) -> bool:
    return address.is_global and not address.is_multicast and not any(address in net for net in _REFUSED_V4)


def check_url(url: str, *, allow_private: bool) -> None:
    """Look at an endpoint's URL without asking the network.

    Args:
        allow_private: `http://`, private addresses and local names are fine too.

    Raises:
        Refused: it cannot be an endpoint.
    """
    if len(url) > URL_MAX_LENGTH:
        raise Refused("too_long", f"must have at most {URL_MAX_LENGTH} characters")
    if not _PRINTABLE.fullmatch(url) or "\\" in url:
        raise Refused("not_a_url", "must be a URL in ASCII; an international name goes in its xn-- form")
    scheme, host, port = _parts(url)
    if scheme != "https" and not (allow_private and scheme == "http"):
        schemes = "https:// or http://" if allow_private else "https://"
        raise Refused("wrong_scheme", f"must start with {schemes}")
    if not allow_private:
        _check_public(host, port)


def _parts(url: str) -> tuple[str, str, int | None]:
    """Scheme, host and port, where the parser that will make the connection and Python's own agree on them."""
    try:
        parsed, second = parse_url(url), urlsplit(url)
        port = second.port
    except (LocationParseError, ValueError):
        raise Refused("not_a_url", "must be a URL") from None
    host = (parsed.host or "").strip("[]").lower()
    if not host or host != (second.hostname or "").lower() or parsed.port != port or port == 0:
        raise Refused("not_a_url", "must be a URL with a host")
    if parsed.auth is not None or second.username is not None:
        raise Refused("has_credentials", "must not hold a user name or password")
    if parsed.fragment is not None:
        raise Refused("has_fragment", "must not hold a fragment")
    return parsed.scheme or "", host, port


def _check_public(host: str, port: int | None) -> None:
    if port is not None and port < 1024 and port not in _LOW_PORTS:
        raise Refused("wrong_port", "must have the port 80, 443, or one from 1024")
    name = host.rstrip(".")
    literal = _literal(name)
    if literal is not None and not is_public(literal):
        raise Refused("private_address", "must not be a private, local or reserved address")
    if literal is None and ("." not in name or name.endswith(_LOCAL_SUFFIXES)):
        raise Refused("local_name", "must have a name of the public Internet")


def _literal(host: str) -> str | None:
    """The address that the host spells, in whichever way the system's resolver would understand it."""
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        pass
    try:
        return socket.inet_ntoa(socket.inet_aton(host))  # also 2130706433, 0x7f.1, 0177.0.0.1 and 127.1
    except (OSError, UnicodeError):
        return None
