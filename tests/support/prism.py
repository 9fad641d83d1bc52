"""Prism, a server that others wrote: it holds every request against a vendor's own OpenAPI description."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.fault_server import closed_port
from tests.support.node import peers_home
from tests.support.peer_process import peer_process

SPECS = Path(os.environ.get("NOTIFYQ_SPECS_DIR") or Path(__file__).resolve().parents[3] / "shared" / "specs")


def vendor_spec(name: str) -> Path:
    """The path of a description that cannot be installed from anywhere; where it is absent the test is skipped."""
    path = SPECS / name
    if not path.is_file():
        pytest.skip(f"{name} is not there (NOTIFYQ_SPECS_DIR names the directory of the vendors' descriptions)")
    return path


@contextmanager
def prism(spec: Path, *arguments: str) -> Iterator[str]:
    """The address of a Prism that mocks `spec`; `arguments` are such as `--errors`.

    It keeps nothing and invents its answers from the description; `Prefer: code=413` asks for a certain one.
    """
    program, port = peers_home() / "node_modules" / ".bin" / "prism", closed_port()
    command = [str(program), "mock", "-h", "127.0.0.1", "-p", str(port), *arguments, str(spec)]
    with peer_process(command, port) as url:
        yield url
