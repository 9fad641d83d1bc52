"""Free ports on the loopback interface."""

from __future__ import annotations

import socket

HOST = "127.0.0.1"
_NEIGHBOURS = 20


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the servers do: a closed one may linger
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def free_port(preferred: int) -> int:
    """The preferred port, else the next free one above it, else any."""
    for port in range(preferred, min(preferred + _NEIGHBOURS, 65_536)):
        if is_free(port):
            return port
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])
