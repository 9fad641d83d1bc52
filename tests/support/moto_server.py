"""moto, a simulation of Amazon's services that others wrote, in a process of its own."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tests.support.fault_server import closed_port
from tests.support.peer_process import peer_process
from tests.support.peers import need


@contextmanager
def moto_server() -> Iterator[str]:
    """The address of a moto server. What it holds: GET /moto-api/data.json; to empty it: POST /moto-api/reset."""
    need("moto")
    port = closed_port()
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "MOTO_"))}
    with peer_process(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)], port, environment
    ) as url:
        yield url
