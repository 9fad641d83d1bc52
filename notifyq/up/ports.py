"""Ports on the loopback interface, taken here and handed to the process that serves on them."""

from __future__ import annotations

import socket

HOST = "127.0.0.1"
_NEIGHBOURS = 20
_QUEUE_SIZE = 1024


def listen(port: int) -> socket.socket:
    """Take this port, so that nobody else can from now on. Connections wait until somebody accepts them.

    Raises:
        OSError: it is taken.
    """
    listening = socket.socket()
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # one that was just closed may linger
        listening.bind((HOST, port))
        listening.listen(_QUEUE_SIZE)
    except OSError:
        listening.close()
        raise
    return listening


def listen_near(preferred: int) -> socket.socket:
    """Take the preferred port, else the next free one above it, else any."""
    for port in range(preferred, min(preferred + _NEIGHBOURS, 65_536)):
        try:
            return listen(port)
        except OSError:
            continue
    return listen(0)


def url_of(listening: socket.socket) -> str:
    """Where it is reached."""
    return f"http://{HOST}:{port_of(listening)}"


def port_of(listening: socket.socket) -> int:
    return int(listening.getsockname()[1])
