"""What trouble on an HTTP/2 connection means: certainly not sent, or nobody knows. Pure.

Sharper than over HTTP/1: the library tells the making of a connection from its use, and the protocol itself can say
that a request was not looked at.
"""

from __future__ import annotations

import socket
import ssl

import httpcore2
from h2.errors import ErrorCodes
from h2.events import ConnectionTerminated, StreamReset
from h2.exceptions import H2Error

from notifications.providers.deadline import Deadline
from notifications.providers.trouble import network_verdict, read_timeout
from notifications.verdict import Verdict

TROUBLE = (
    httpcore2.NetworkError,
    httpcore2.TimeoutException,
    httpcore2.ProtocolError,
    httpcore2.ConnectionNotAvailable,
    H2Error,
    OSError,
    ValueError,
)


class NoHttp2Error(Exception):
    """The peer agreed on a connection, but not on HTTP/2."""


def http2_verdict(error: BaseException, deadline: Deadline) -> Verdict:
    """TEMPORARY where it is certain that nothing was acted upon, else UNCONFIRMED.

    Until the connection stands and its handshake is over, nothing of the request has left this machine.
    """
    if any(isinstance(cause, NoHttp2Error) for cause in error.args):
        return Verdict.provider_fault("not_http2", "the configured address does not speak HTTP/2")
    if isinstance(error, httpcore2.ConnectTimeout) or (isinstance(error, httpcore2.ConnectError) and deadline.fired):
        return Verdict.temporary("connect_timeout", "no connection could be made in time")
    if isinstance(error, httpcore2.ConnectError):
        return _unconnected([error, *error.args])
    if _is_unprocessed(error):
        return Verdict.temporary("connection_ended", "the vendor ended the connection without looking at the message")
    if deadline.fired or isinstance(error, httpcore2.TimeoutException):
        return read_timeout()
    if isinstance(error, H2Error | ValueError | httpcore2.LocalProtocolError):
        return Verdict.unconfirmed("garbled_answer", "the answer is not HTTP/2")
    return network_verdict(error)


def _is_unprocessed(error: BaseException) -> bool:
    """Whether the peer has said that it did not act upon the request: with a GOAWAY that names an earlier one as the
    last, or by refusing the stream.

    Source: RFC 9113 sections 6.8 and 8.7.
    """
    if isinstance(error, httpcore2.ConnectionNotAvailable):
        return True
    return any(
        (isinstance(event, ConnectionTerminated) and event.last_stream_id == 0)
        or (isinstance(event, StreamReset) and event.remote_reset and event.error_code == ErrorCodes.REFUSED_STREAM)
        for event in error.args
    )


def _unconnected(causes: list[object]) -> Verdict:
    for kind, code, text in (
        (socket.gaierror, "dns_failure", "the host's name could not be resolved"),
        (ssl.SSLCertVerificationError, "certificate_untrusted", "the host's certificate is not trusted"),
        (ssl.SSLError, "tls_failure", "no encrypted connection could be made"),
    ):
        if any(isinstance(cause, kind) for cause in causes):
            return Verdict.temporary(code, text)
    return Verdict.temporary("connect_refused", "no connection could be made")
