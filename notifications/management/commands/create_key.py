"""manage.py create_key"""

from __future__ import annotations

import json
from argparse import ArgumentTypeError
from datetime import timedelta
from typing import Any

from django.core.management.base import CommandParser

from notifications import accounts
from notifications.management.teaching import TeachingCommand
from notifications.models.client import Scope
from notifyq.runtime.instants import rfc3339

_DAYS_MOST = 36_500


class Command(TeachingCommand):
    help = (
        "Give a client a further key and print it as one JSON line: "
        '{"clientId", "name", "apiKey", "scopes", "expiresAt"}. To change a key without a gap: create the new one, '
        "put it into the application, then revoke the old one."
    )
    examples = (
        "create_key shop",
        "create_key shop --scope read --expires-in-days 30",
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("client", help="the client's name or id")
        parser.add_argument(
            "--scope",
            action="append",
            choices=Scope.values,
            help="what the key may do; give it several times for several (default: send and read)",
        )
        parser.add_argument("--expires-in-days", type=_days, help="refuse the key after so many days (default: never)")

    def run(self, **options: Any) -> None:
        client = accounts.find_client(options["client"])
        days = options["expires_in_days"]
        key = accounts.create_key(
            client,
            options["scope"] or accounts.DEFAULT_SCOPES,
            expires_in=None if days is None else timedelta(days=days),
        )
        shown = {
            "clientId": str(client.pk),
            "name": client.name,
            "apiKey": key.secret,
            "scopes": key.api_key.scopes,
            "expiresAt": rfc3339(key.api_key.expires_at),
        }
        self.stdout.write(json.dumps(shown))


def _days(text: str) -> float:
    try:
        days = float(text)
    except ValueError:
        days = 0
    if not 0 < days <= _DAYS_MOST:
        raise ArgumentTypeError(f"must be a number of days, more than 0 and at most {_DAYS_MOST}")
    return days
