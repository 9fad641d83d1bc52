"""manage.py reconcile"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from notifications import selectors
from notifications.delivery.reconciler import Reconciler, Report
from notifications.delivery.worker import new_worker_id
from notifications.errors import ConfigurationError
from notifications.management.teaching import TeachingCommand
from notifications.providers import chains
from notifications.retry import Backoff
from notifications.verdict import Found
from notifyq.env import Config, Environment


class Command(TeachingCommand):
    help = (
        "Ask the providers, once, what became of every send in doubt that is due to be asked about, write what they "
        "say, and exit. The workers do the same all the time, so this is for those who want to know now. Sends "
        "nothing. Any number of these and of workers may run at once."
    )
    examples = ("reconcile",)

    def run(self, **options: Any) -> None:
        config: Config = settings.NOTIFYQ
        try:
            built = chains.build(config.provider_chains, Environment())
        except ConfigurationError as error:
            raise CommandError(str(error)) from None
        reconciler = Reconciler(
            new_worker_id("reconcile"),
            built,
            Backoff(config.lookup_backoff_base_seconds, config.lookup_backoff_max_seconds),
            timeout_seconds=config.send_timeout_seconds,
            poll_seconds=config.poll_seconds,
        )
        try:
            self.stdout.write(_line(reconciler.run_pass()) + _waiting(*selectors.waiting_to_be_asked_about()))
        finally:
            chains.close(built)


def _line(report: Report) -> str:
    """What it did, in counts."""
    found = ", ".join(f"{report.found[answer]} {answer}" for answer in Found)
    became = ", ".join(f"{count} {status}" for status, count in sorted(report.became.items()))
    return f"asked about {report.found.total()}: {found}" + (f"; now {became}" if became else "")


def _waiting(count: int, due_at: datetime | None) -> str:
    """Those that are left, and when somebody may ask again: a question put too early proves nothing."""
    if due_at is None:
        return ""
    waiting = f"{count} waits," if count == 1 else f"{count} wait, the next"
    return f"; {waiting} to be asked about from {due_at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
