"""manage.py list_keys"""

from __future__ import annotations

from typing import Any

from notifications import accounts
from notifications.management.teaching import TeachingCommand
from notifications.models import ApiKey
from notifyq.runtime.instants import rfc3339

_COLUMNS = ("PREFIX", "CLIENT", "SCOPES", "STATE", "CREATED", "LAST USED")


class Command(TeachingCommand):
    help = "Show every key: its public beginning, whose it is, what it may do, and whether it is still in use."
    examples = ("list_keys",)

    def run(self, **options: Any) -> None:
        rows = [_COLUMNS, *(self._row(key) for key in accounts.list_keys())]
        widths = [max(len(row[i]) for row in rows) for i in range(len(_COLUMNS))]
        for row in rows:
            self.stdout.write("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())

    def _row(self, key: ApiKey) -> tuple[str, ...]:
        used = (rfc3339(key.last_used_at) or "never")[:16].replace("T", " ")
        created = (rfc3339(key.created_at) or "")[:16].replace("T", " ")
        return key.prefix, key.client.name, ",".join(key.scopes), accounts.state(key), created, used
