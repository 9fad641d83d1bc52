"""`manage.py doctor`: what is wrong with this installation, and what to do."""

from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import BaseCommand

from notifyq.doctor import Level, examine


class Command(BaseCommand):
    help = (
        "Look at the settings, the database, the queue's indexes and tables, and the workers. One line for each: OK, "
        "WARN or FAIL, with what to do. Changes nothing; exits with 1 when something is FAIL."
    )
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        worst = Level.OK
        for finding in examine():
            self.stdout.write(str(finding))
            worst = max(worst, finding.level, key=list(Level).index)
        if worst is Level.FAIL:
            sys.exit(1)
