"""manage.py revoke_key"""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from notifications import accounts
from notifications.management.teaching import TeachingCommand


class Command(TeachingCommand):
    help = "Refuse a key from now on. What it created stays and is sent. Safe to repeat."
    examples = ("list_keys", "revoke_key nq_k7m2p9x4tq")

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("prefix", help="the public beginning of the key, as list_keys shows it")

    def run(self, **options: Any) -> None:
        key = accounts.revoke_key(options["prefix"])
        self.stdout.write(f"{key.prefix} of {key.client.name} is revoked")
