"""What an exception on the network means: certainly not sent, or nobody knows. Pure."""

from __future__ import annotations

import http.client
import ssl
from collections.abc import Iterator

import requests
import urllib3.exceptions as u3

from notifications.providers.session import AddressRefused
from notifications.verdict import Verdict

# Certain: nothing of the request can have been read. The order matters, the first ones are subclasses of later ones.
_NOT_SENT: tuple[tuple[type[BaseException], str, str], ...] = (
    (AddressRefused, "address_refused", "the host has no address that may be connected to"),
    (u3.NameResolutionError, "dns_failure", "the host's name could not be resolved"),
    (u3.NewConnectionError, "connect_refused", "no connection could be made"),
    (u3.ConnectTimeoutError, "connect_timeout", "no connection could be made in time"),
    (requests.ConnectTimeout, "connect_timeout", "no connection could be made in time"),
    (ssl.SSLCertVerificationError, "certificate_untrusted", "the host's certificate is not trusted"),
    (requests.exceptions.InvalidURL, "invalid_url", "the address is not a URL"),
    (requests.exceptions.MissingSchema, "invalid_url", "the address is not a URL"),
)
# Anything else may have been read, acted upon, and its answer lost. RemoteDisconnected is a BadStatusLine by class
# only: it is the clean end of a connection without an answer.
_UNKNOWN: tuple[tuple[type[BaseException], str, str], ...] = (
    (u3.ReadTimeoutError, "read_timeout", "no complete answer came in time"),
    (requests.ReadTimeout, "read_timeout", "no complete answer came in time"),
    (TimeoutError, "read_timeout", "no complete answer came in time"),
    (http.client.RemoteDisconnected, "connection_lost", "the connection ended before an answer"),
    (http.client.IncompleteRead, "truncated_answer", "the answer ended in the middle"),
    (ssl.SSLError, "tls_failure", "the encrypted connection failed"),
    (u3.SSLError, "tls_failure", "the encrypted connection failed"),
    (http.client.HTTPException, "garbled_answer", "the answer is not HTTP"),
    (u3.DecodeError, "garbled_answer", "the answer cannot be decoded"),
    (u3.InvalidHeader, "garbled_answer", "the answer is not HTTP"),
    (requests.exceptions.InvalidHeader, "garbled_answer", "the answer is not HTTP"),
    (requests.exceptions.ContentDecodingError, "garbled_answer", "the answer cannot be decoded"),
    (ValueError, "garbled_answer", "the answer is not HTTP"),
)


def read_timeout() -> Verdict:
    """The deadline passed after the call was begun."""
    return Verdict.unconfirmed("read_timeout", "no complete answer came in time")


def network_verdict(error: BaseException) -> Verdict:
    """TEMPORARY where the chain of causes proves that nothing was sent, else UNCONFIRMED.

    The texts are ours: those of the exceptions hold addresses, and some vendors want the recipient in the address.
    """
    causes = list(_chain(error))
    for kind, code, text in _NOT_SENT:
        if any(isinstance(cause, kind) for cause in causes):
            return Verdict.temporary(code, text)
    for kind, code, text in _UNKNOWN:
        if any(isinstance(cause, kind) for cause in causes):
            return Verdict.unconfirmed(code, text)
    return Verdict.unconfirmed("connection_lost", "the connection ended before an answer")


def _chain(error: BaseException) -> Iterator[BaseException]:
    """`error` and everything it was raised for, each once.

    `__context__` is left out on purpose: it names whatever was being handled by chance.
    """
    seen: set[int] = set()
    waiting: list[object] = [error]
    while waiting:
        current = waiting.pop()
        if not isinstance(current, BaseException) or id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        # The `reason` of an ssl.SSLError is a string; that of a urllib3 error is its cause.
        waiting += [current.__cause__, getattr(current, "reason", None), *current.args]
