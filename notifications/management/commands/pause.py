"""manage.py pause"""

from __future__ import annotations

import getpass
from typing import Any

from django.core.management.base import CommandParser

from notifications import services
from notifications.management.teaching import TeachingCommand
from notifications.pausing import PauseScope


class Command(TeachingCommand):
    help = (
        "Send nothing more of everything, a channel, a provider or a client, until `resume`. It is in force within one "
        "poll of the workers, on every machine, and survives restarts. What is on its way is finished; what waits "
        "keeps its place. Safe to repeat."
    )
    examples = (
        "pause ALL --reason 'wrong texts since 9:30'",
        "pause CHANNEL SMS",
        "pause PROVIDER smtp:backup",
        "pause CLIENT shop",
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("scope", choices=list(PauseScope), metavar="SCOPE", help=", ".join(PauseScope))
        parser.add_argument("value", nargs="?", metavar="VALUE", help="the channel, provider or client; none for ALL")
        parser.add_argument("--reason", default="", help="for whoever wonders later")

    def run(self, **options: Any) -> None:
        pause, begun = services.pause(
            options["scope"], options["value"], reason=options["reason"], by=f"command:{system_user()}"
        )
        self.stdout.write(
            f"{pause} is paused" if begun else f"{pause} was paused already, {services.pause_told(pause)}"
        )


def system_user() -> str:
    """Who runs the command; for the record only."""
    try:
        return getpass.getuser()[:100]
    except (KeyError, OSError):  # no name for this uid
        return "unknown"
