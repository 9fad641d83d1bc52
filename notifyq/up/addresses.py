"""What `up` says when it is ready: where to look, how to log in, what to try."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from notifications.channel import Channel
from notifyq.up.accounts import OPERATOR
from notifyq.up.screen import Screen

TRIAL_KEY = "first-try"
# The first of them that reaches nobody is shown. The last one never does.
_TRIALS: dict[Channel, dict[str, str]] = {
    Channel.SMS: {"recipient": "+12025550123"},
    Channel.EMAIL: {"recipient": "first-try@example.com", "subject": "Hello"},
    Channel.PUSH: {"recipient": "fcm:first-try"},
    Channel.IN_APP: {"recipient": "first-try"},
}


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


def show_trial(screen: Screen, api_url: str, api_key: str, real: Mapping[Channel, Sequence[str]]) -> None:
    """A request to copy; its key is fixed, as the reader's first repeat should show what the key is for.

    Args:
        real: the providers that would reach somebody, of those channels that have any: no request to copy is for them.
    """
    channel = next(channel for channel in _TRIALS if channel not in real)
    screen.title("Try it: a repeat with the same Idempotency-Key sends nothing again")
    screen.line(_curl(api_url, api_key, channel))
    if real:
        theirs = "; ".join(f"{channel} goes to {', '.join(names)}" for channel, names in real.items())
        screen.line(f"    {theirs}: what you send there reaches the recipient that you name.")


def show_end(screen: Screen) -> None:
    screen.line()
    screen.line("  Ctrl-C stops everything; the data stays.")


def _curl(api_url: str, api_key: str, channel: Channel) -> str:
    key = TRIAL_KEY if channel is Channel.SMS else f"{TRIAL_KEY}-{channel.lower()}"
    return (
        f"    curl -sS {api_url}/api/v1/notifications \\\n"
        f"      -H 'Authorization: Bearer {api_key}' \\\n"
        f"      -H 'Idempotency-Key: {key}' \\\n"
        "      -H 'Content-Type: application/json' \\\n"
        f"      -d '{json.dumps({'channel': channel, **_TRIALS[channel], 'body': 'Hello from curl'})}'"
    )
