"""What `up` says when it is ready: where to look, how to log in, what to try."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from notifyq.up.accounts import OPERATOR
from notifyq.up.screen import Screen


@dataclass(frozen=True, slots=True)
class Addresses:
    """`password` is empty when the operator changed it."""

    api_url: str
    sandbox_url: str
    logs: Path
    password: str


def show(screen: Screen, addresses: Addresses) -> None:
    api, secret = addresses.api_url, addresses.password or "the password you gave it"
    screen.title("Open")
    screen.row("API docs", f"{api}/api/docs/")
    screen.row("Admin", f"{api}/admin/   log in as {OPERATOR} / {secret}")
    screen.row("Sandbox", f"{addresses.sandbox_url}/   stands in for the vendors: what they would have got")
    screen.row("Metrics", f"{api}/metrics")
    screen.row("Logs", str(addresses.logs))
    screen.row("Commands", f"{_shown(sys.executable)} manage.py help")


def _shown(program: str) -> str:
    """The path as one would type it here."""
    here = f"{Path.cwd()}/"
    return program.removeprefix(here)


def show_trial(screen: Screen, api_url: str, api_key: str) -> None:
    """A request to copy; its key is fixed, as the reader's first repeat should show what the key is for."""
    screen.title("Try it: a repeat with the same Idempotency-Key sends nothing again")
    screen.line(_curl(api_url, api_key))


def show_end(screen: Screen) -> None:
    screen.line()
    screen.line("  Ctrl-C stops everything; the data stays.")


def _curl(api_url: str, api_key: str) -> str:
    return (
        f"    curl -sS {api_url}/api/v1/notifications \\\n"
        f"      -H 'Authorization: Bearer {api_key}' \\\n"
        "      -H 'Idempotency-Key: first-try' \\\n"
        "      -H 'Content-Type: application/json' \\\n"
        '      -d \'{"channel": "SMS", "recipient": "+12025550123", "body": "Hello from curl"}\''
    )
