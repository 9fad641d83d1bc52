"""manage.py resume"""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from notifications import services
from notifications.management.commands.pause import system_user
from notifications.management.teaching import TeachingCommand
from notifications.pausing import PauseScope


class Command(TeachingCommand):
    help = (
        "End a pause. What it kept goes on in the order as if it had never been paused; what another pause keeps, "
        "stays. Takes the same words as `pause`."
    )
    examples = ("resume ALL", "resume CHANNEL SMS", "resume PROVIDER smtp:backup", "resume CLIENT shop")

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("scope", choices=list(PauseScope), metavar="SCOPE", help=", ".join(PauseScope))
        parser.add_argument("value", nargs="?", metavar="VALUE", help="the channel, provider or client; none for ALL")

        parser.add_argument("--reason", default="", help="for whoever wonders later")

    def run(self, **options: Any) -> None:
        found = services.find_pause(options["scope"], options["value"])
        ended = services.resume(found.pk, reason=options["reason"], by=f"command:{system_user()}")
        self.stdout.write(f"{ended} goes on")
