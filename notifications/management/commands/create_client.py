"""manage.py create_client"""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import CommandParser

from notifications import accounts
from notifications.management.teaching import TeachingCommand
from notifications.models.client import Scope


class Command(TeachingCommand):
    help = (
        "Add a client (one application or team that sends notifications) and print its first key as one JSON line: "
        '{"clientId", "name", "apiKey", "scopes"}. The key is shown this once; only its hash is kept. '
        "Scopes: send (create, read, cancel its own), read (read its own), inbox (its users' inboxes, nothing else), "
        "operate (everything, for any client)."
    )
    examples = (
        "create_client shop",
        "create_client console --scope operate",
        "create_client shop --smtp-url smtps://user:password@mail.example.com --email-from shop@example.com",
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="a name that no other client has, at most 100 characters")
        parser.add_argument(
            "--scope",
            action="append",
            choices=Scope.values,
            help="what the key may do; give it several times for several (default: send and read)",
        )
        parser.add_argument("--smtp-url", default="", help="its own relay for e-mail; stored encrypted")
        parser.add_argument("--email-from", default="", help="its own sender address")

    def run(self, **options: Any) -> None:
        client, key = accounts.create_client(
            options["name"],
            options["scope"] or accounts.DEFAULT_SCOPES,
            smtp_url=options["smtp_url"],
            email_from=options["email_from"],
        )
        shown = {"clientId": str(client.pk), "name": client.name, "apiKey": key.secret, "scopes": key.api_key.scopes}
        self.stdout.write(json.dumps(shown))
