"""manage.py set_sender"""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from notifications import accounts
from notifications.management.teaching import TeachingCommand


class Command(TeachingCommand):
    help = (
        "Give a client a relay and a sender address of its own for e-mail, or take them away. What is not named stays "
        "as it is; an empty value removes it, so that the installation's own serves again."
    )
    examples = (
        "set_sender shop --smtp-url smtp://user:password@mail.example.com:587 --email-from shop@example.com",
        "set_sender shop --smtp-url ''",
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("client", help="the client's name or id")
        parser.add_argument("--smtp-url", help="smtp://… or smtps://…, with user and password; stored encrypted")
        parser.add_argument("--email-from", help="the address that its e-mail comes from")

    def run(self, **options: Any) -> None:
        smtp_url, email_from = options["smtp_url"], options["email_from"]
        if smtp_url is None and email_from is None:
            raise CommandError("nothing to change: give --smtp-url, --email-from or both")
        client = accounts.find_client(options["client"])
        accounts.set_sender(client, smtp_url=smtp_url, email_from=email_from)
        self.stdout.write(f"the sender of {client.name} is changed")
