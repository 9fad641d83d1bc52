"""Name resolution that can be given up on: `getaddrinfo` has no timeout and may take half a minute."""

from __future__ import annotations

import ipaddress
import os
import socket
import threading
from concurrent.futures import Future

Address = tuple[str, int]


class _Resolver:
    """One thread per name that is being asked for, however many calls wait for it; nothing is remembered."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self._lock = threading.Lock()
        self._asked: dict[Address, Future[list[str]]] = {}

    def ask(self, host: str, port: int) -> Future[list[str]]:
        with self._lock:
            if found := self._asked.get((host, port)):
                return found
            future = self._asked[host, port] = Future()
        threading.Thread(target=self._answer, args=(host, port, future), name="resolve", daemon=True).start()
        return future

    def _answer(self, host: str, port: int, future: Future[list[str]]) -> None:
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
        except (OSError, UnicodeError) as error:
            self._forget(host, port)
            future.set_exception(error)
        else:
            self._forget(host, port)
            future.set_result(addresses)

    def _forget(self, host: str, port: int) -> None:
        with self._lock:
            self._asked.pop((host, port), None)


_RESOLVER = _Resolver()
os.register_at_fork(after_in_child=_RESOLVER.reset)


def resolve(host: str, port: int, timeout_seconds: float) -> list[str]:
    """The numeric addresses of `host`, best first.

    Raises:
        OSError: there are none (`socket.gaierror`), or nobody said so in time (`TimeoutError`).
        UnicodeError: `host` cannot be a name.
    """
    try:
        return [str(ipaddress.ip_address(host.strip("[]")))]
    except ValueError:
        return _RESOLVER.ask(host, port).result(timeout=max(0.0, timeout_seconds))
