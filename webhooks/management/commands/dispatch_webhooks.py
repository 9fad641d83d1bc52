"""The webhook dispatcher."""

from __future__ import annotations

import signal
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from notifyq.runtime.metrics import forget_dead_processes
from notifyq.runtime.numerals import between
from webhooks.dispatch.call import EndpointCaller
from webhooks.dispatch.dispatcher import Dispatcher, DispatcherOptions
from webhooks.status import EventStatus

DESCRIPTION = """\
Deliver the webhook events that are due, and exit; or, with --forever, go on until SIGTERM or Ctrl-C.

One pass suits cron: two at once do no harm. An endpoint that fails three times in a row in one pass is left to the
next. --forever suits a service: it is woken as soon as there is an event, and any number may run. On SIGTERM it
claims no more, finishes what is on its way (for at most NOTIFYQ_GRACE_SECONDS) and exits with 0. A second signal ends
it at once; what it held is sent again by others, with the same event id.
"""
EXAMPLES = """\
examples:
  manage.py dispatch_webhooks                             once, from cron or a timer
  manage.py dispatch_webhooks --forever                   as a service
  manage.py dispatch_webhooks --forever --concurrency 64  for many slow endpoints
"""
SEATS_LEAST, SEATS_MOST = 4, 512


class Command(BaseCommand):
    help = DESCRIPTION

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.formatter_class = RawDescriptionHelpFormatter
        parser.epilog = EXAMPLES
        parser.add_argument("--forever", action="store_true", help="go on until stopped")
        parser.add_argument(
            "--concurrency",
            type=between(SEATS_LEAST, SEATS_MOST),
            default=32,
            metavar="N",
            help=f"calls at a time, {SEATS_LEAST} to {SEATS_MOST} (32); of those, at most 4 to one endpoint",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        forget_dead_processes()
        dispatcher = Dispatcher(dispatcher_options(options), _caller())
        _listen_for_signals(dispatcher)
        settled = dispatcher.run()
        counts = dispatcher.counts
        self.stdout.write(
            f"webhooks: {counts[EventStatus.DELIVERED]} delivered, {counts[EventStatus.PENDING]} to be tried again, "
            f"{counts[EventStatus.FAILED]} failed, {counts[EventStatus.CANCELLED]} cancelled"
        )
        if not settled:
            sys.exit(1)


def dispatcher_options(options: dict[str, Any]) -> DispatcherOptions:
    """What the command line and the settings say together."""
    config = settings.NOTIFYQ
    return DispatcherOptions(
        seat_count=options["concurrency"],
        max_attempts=config.webhook_max_attempts,
        poll_seconds=config.poll_seconds,
        grace_seconds=config.grace_seconds,
        wakeup=config.wakeup,
        forever=options["forever"],
    )


def _caller() -> EndpointCaller:
    config = settings.NOTIFYQ
    return EndpointCaller(
        timeout_seconds=config.webhook_timeout_seconds, allow_private=config.webhook_allow_private_addresses
    )


def _listen_for_signals(dispatcher: Dispatcher) -> None:
    """The first asks it to stop; the second has its usual effect, which is to end the process."""

    def stop(number: int, frame: Any) -> None:
        for each in (signal.SIGTERM, signal.SIGINT):
            signal.signal(each, signal.SIG_DFL)
        dispatcher.stop()

    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, stop)
