"""The one kind of `requests` session adapters use: no proxy or netrc from outside, no redirect, no retry, no cookie."""

from __future__ import annotations

import logging
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.cookiejar import DefaultCookiePolicy
from typing import Any

import requests
import urllib3
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import ConnectTimeoutError, NameResolutionError, NewConnectionError
from urllib3.util.connection import create_connection

from notifications.providers.deadline import WATCHDOG, Deadline
from notifications.providers.resolver import resolve
from notifyq.runtime.identity import USER_AGENT

CONNECT_TIMEOUT_SECONDS = 5.0
# A connection that has long been idle is replaced rather than used: one that its peer closes while we write to it
# leaves us not knowing whether the request was read. Vendors close at 60 seconds and more, a few at 5.
IDLE_SECONDS = 15.0

# urllib3 writes the addresses of requests into its log lines, and some vendors want the recipient in the address.
logging.getLogger("urllib3").setLevel(logging.ERROR)

_call = threading.local()


@contextmanager
def bounded(timeout_seconds: float) -> Iterator[Deadline]:
    """Within the block, every connection this thread uses is shut when the time is over."""
    deadline = Deadline(timeout_seconds)
    _call.deadline = deadline
    try:
        yield deadline
    finally:
        _call.deadline = None  # before the release: what is closed from here on is closed at once
        WATCHDOG.release(deadline)


class AddressRefused(OSError):
    """No address of the host may be connected to."""


def anywhere(address: str) -> bool:
    """For hosts that stand in our own settings."""
    return True


def new_session(permitted: Callable[[str], bool] = anywhere) -> requests.Session:
    """A session for one thread. Threads must not share one.

    Args:
        permitted: asked with each numeric address right before it would be connected to; the others are passed over.
            Where none is left, the call ends with an `AddressRefused` among its causes.
    """
    session = _PlainSession()
    session.trust_env = False
    session.headers["User-Agent"] = USER_AGENT
    session.headers["Accept-Encoding"] = "identity"  # answers are short; nothing to be gained, bombs to be had
    session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
    for scheme in ("http://", "https://"):
        session.mount(scheme, _BoundedAdapter(permitted, pool_connections=4, pool_maxsize=1, max_retries=0))
    return session


class _PlainSession(requests.Session):
    def get_redirect_target(self, resp: requests.Response) -> None:
        """Never looks at Location.

        Even where redirects are not followed, requests prepares the next request: it reads the whole body, and a
        Location that is no URL raises the same error as an address of ours that was never called.
        """


class _BoundedConnection(HTTPConnection):
    """Registers its socket with the watchdog for the time of a call.

    A duplicate of the socket is registered, since TLS takes the original one over before the handshake.
    """

    permitted: Callable[[str], bool] = staticmethod(anywhere)
    _handle: socket.socket | None = None
    _used_at = 0.0

    def request(self, *args: Any, **kwargs: Any) -> None:
        self._used_at = time.monotonic()
        self._watch()
        super().request(*args, **kwargs)

    def close(self) -> None:
        super().close()
        handle, self._handle = self._handle, None
        if handle is not None:
            WATCHDOG.close(handle, getattr(_call, "deadline", None))

    @property
    def is_connected(self) -> bool:
        return time.monotonic() - self._used_at < IDLE_SECONDS and super().is_connected

    def _new_conn(self) -> socket.socket:
        made = self._connect()
        sys.audit("http.client.connect", self, self.host, self.port)
        self._handle = made.dup()
        self._watch()
        return made

    def _watch(self) -> None:
        deadline: Deadline | None = getattr(_call, "deadline", None)
        if deadline is not None and self._handle is not None:
            WATCHDOG.watch(deadline, self._handle)

    def _connect(self) -> socket.socket:
        """Like the original, except that names and all addresses together have one timeout.

        The errors name no recipient: host and port only.
        """
        ends_at = time.monotonic() + float(self.timeout or CONNECT_TIMEOUT_SECONDS)
        try:
            addresses = resolve(self._dns_host, self.port, ends_at - time.monotonic())
        except (OSError, UnicodeError) as error:
            reason = error if isinstance(error, socket.gaierror) else socket.gaierror(str(error))
            raise NameResolutionError(self.host, self, reason) from error
        try:
            return self._first_that_answers(addresses, ends_at)
        except TimeoutError as error:
            raise ConnectTimeoutError(self, f"Connection to {self.host} timed out") from error
        except OSError as error:
            raise NewConnectionError(self, f"Failed to establish a new connection: {error}") from error

    def _first_that_answers(self, addresses: list[str], ends_at: float) -> socket.socket:
        allowed = [address for address in addresses if self.permitted(address)]
        if addresses and not allowed:
            raise AddressRefused("the host has no address that may be connected to")
        trouble: OSError = TimeoutError("no address was tried in time")
        for address in allowed:
            remaining = ends_at - time.monotonic()
            if remaining <= 0:
                break
            try:
                return create_connection((address, self.port), remaining, socket_options=self.socket_options)
            except OSError as error:
                trouble = error
        raise trouble


class _BoundedTlsConnection(_BoundedConnection, HTTPSConnection):
    pass


def _pool(base: type[HTTPConnectionPool], connection: type[HTTPConnection]) -> type[HTTPConnectionPool]:
    return type(f"Bounded{base.__name__}", (base,), {"ConnectionCls": connection})


class _BoundedAdapter(HTTPAdapter):
    def __init__(self, permitted: Callable[[str], bool], **kwargs: Any) -> None:
        self._permitted = permitted
        super().__init__(**kwargs)

    def init_poolmanager(self, connections: int, maxsize: int, block: bool = False, **kwargs: Any) -> None:
        super().init_poolmanager(connections, maxsize, block=block, **kwargs)
        manager: urllib3.PoolManager = self.poolmanager
        rule = {"permitted": staticmethod(self._permitted)}
        plain, tls = (type(kind.__name__, (kind,), rule) for kind in (_BoundedConnection, _BoundedTlsConnection))
        manager.pool_classes_by_scheme = {
            "http": _pool(HTTPConnectionPool, plain),
            "https": _pool(HTTPSConnectionPool, tls),
        }
