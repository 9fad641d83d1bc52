"""A server that others wrote, as a process of its own on a port of loopback."""

from __future__ import annotations

import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO

import pytest

READY_SECONDS = 90.0


@contextmanager
def peer_process(command: Sequence[str], port: int, environment: Mapping[str, str] | None = None) -> Iterator[str]:
    """Start `command`, wait until it listens on `port`, give its address, and end it.

    Args:
        environment: all of its variables; None for ours.
    """
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env=environment)
        try:
            _wait_until_ready(process, port, output)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(10)


def _wait_until_ready(process: subprocess.Popen[bytes], port: int, output: IO[bytes]) -> None:
    ends_at = time.monotonic() + READY_SECONDS
    while time.monotonic() < ends_at and process.poll() is None:
        with socket.socket() as probe:
            probe.settimeout(1)
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    output.seek(0)
    said = output.read()[-2000:].decode(errors="replace")
    pytest.fail(f"the peer did not start: {said}")
