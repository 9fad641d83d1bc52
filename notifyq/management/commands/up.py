"""`manage.py up`: the whole service on one machine."""

from __future__ import annotations

import sys
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from notifyq.runtime.numerals import between
from notifyq.up.screen import Screen
from notifyq.up.service import DEFAULT_PORT, Options, Service


class Command(BaseCommand):
    help = (
        "Run the whole service on this machine: tables, sandbox provider, workers, API, and a first notification per "
        "channel to look at. Ctrl-C stops everything; the data stays."
    )

    requires_system_checks: list[str] = []  # each process it starts runs them and writes what they find to its log

    def add_arguments(self, parser: CommandParser) -> None:
        port = between(1, 65_535, "a port")
        parser.add_argument("--port", type=port, help=f"of the API; default {DEFAULT_PORT}, or a free one near it")
        parser.add_argument("--workers", type=between(1, 64), default=1, metavar="N", help="delivery processes (1)")
        parser.add_argument("--no-demo", action="store_true", help="no demo client, no notifications to look at")

    def handle(self, *_args: Any, **options: Any) -> None:
        chosen = Options(port=options["port"], workers=options["workers"], demo=not options["no_demo"])
        screen = Screen(self.stdout, self.style)
        sys.exit(Service(chosen, settings.NOTIFYQ, settings.BASE_DIR, settings.DATA_DIR, screen).run())
