"""The SMTP account: what `smtp://…` and `smtps://…` say. Pure."""

from __future__ import annotations

import ssl
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from urllib.parse import SplitResult, parse_qsl, unquote

from notifications.providers.email.mailbox import ascii_domain
from notifications.url_parts import split_url

SUBMISSION_PORT = 587  # RFC 6409: with an account
RELAY_PORT = 25
IMPLICIT_TLS_PORT = 465  # RFC 8314


class Tls(StrEnum):
    """When the connection is encrypted.

    REQUIRED and IMPLICIT check the server's certificate. OPPORTUNISTIC does not: whoever could forge it could as
    well hide the STARTTLS offer (RFC 7435), so a check would only turn encryption against nobody into a failure.
    """

    NEVER = "never"
    OPPORTUNISTIC = "opportunistic"
    REQUIRED = "required"
    IMPLICIT = "implicit"


@dataclass(frozen=True, slots=True)
class SmtpServer:
    """Where and how to hand mail over. `username` is empty when there is no login."""

    host: str
    port: int
    tls: Tls
    username: str = field(default="", repr=False)
    password: str = field(default="", repr=False)
    ca_file: str = ""


def parse_server_url(url: str, *, local_files: bool = True) -> SmtpServer:
    """Read `smtp[s]://[user:password@]host[:port][?starttls=required|opportunistic|never][&cafile=/path.pem]`.

    User and password are percent-decoded. `starttls` defaults to `required` with a login and to `opportunistic`
    without one, the port to 587 and 25; `smtps` means TLS from the first byte, port 465. `cafile` is what to trust
    instead of the system's authorities.

    Args:
        local_files: whether `cafile` may be used; not in what a client of the service has set.

    Raises:
        ValueError: what is wrong, in words that repeat no part of the URL.
    """
    parts = _split(url)
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    if bool(user) != bool(password):
        raise ValueError("must hold both a user and a password, or neither")
    if "\0" in user + password:
        raise ValueError("must not hold a NUL in its user or password")
    options = _options(parts)
    tls = _tls(parts.scheme, options.get("starttls"), login=bool(user))
    default_port = IMPLICIT_TLS_PORT if tls is Tls.IMPLICIT else SUBMISSION_PORT if user else RELAY_PORT
    ca_file = options.get("cafile", "")
    if ca_file and not local_files:
        raise ValueError("must not name a cafile")
    if ca_file:
        _check_ca_file(ca_file)
    return SmtpServer(_host(parts), parts.port or default_port, tls, user, password, ca_file)


def _split(url: str) -> SplitResult:
    parts = split_url(url.strip(), ("smtp", "smtps"))
    if parts is None:
        raise ValueError("must be a URL that starts with smtp:// or smtps://")
    if parts.path not in ("", "/") or parts.fragment:
        # Most often a '/', '?' or '#' in a password.
        raise ValueError("must end after the port or its options; percent-encode special characters in the password")
    return parts


def _check_ca_file(path: str) -> None:
    if not Path(path).is_file():
        raise ValueError("must name a cafile that exists")
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(path)
    except OSError:  # so is an SSLError
        raise ValueError("must name a cafile that can be read and holds certificates in PEM") from None


def _host(parts: SplitResult) -> str:
    host = parts.hostname or ""
    try:
        return host if ":" in host else ascii_domain(host)
    except ValueError:
        raise ValueError("must name a valid host") from None


def _options(parts: SplitResult) -> dict[str, str]:
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    if set(options) - {"starttls", "cafile"}:
        raise ValueError("may only have the options starttls and cafile")
    return options


def _tls(scheme: str, wish: str | None, *, login: bool) -> Tls:
    if scheme == "smtps":
        if wish is not None:
            raise ValueError("must not have the option starttls with smtps://")
        return Tls.IMPLICIT
    if wish is None:
        return Tls.REQUIRED if login else Tls.OPPORTUNISTIC
    if wish not in (Tls.REQUIRED, Tls.OPPORTUNISTIC, Tls.NEVER):
        raise ValueError("must have starttls=required, opportunistic or never")
    return Tls(wish)
