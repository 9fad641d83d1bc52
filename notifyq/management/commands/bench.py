"""`manage.py bench`: how fast the queue is on this machine and database."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from notifyq.bench.plan import Plan, add_arguments
from notifyq.bench.scratch import NoScratchDatabase, run_on, scratch_database

DESCRIPTION = """\
Measure the queue on the configured PostgreSQL server, in a scratch database that is dropped afterwards.

  deliver   notifications a second through claim, delivery and settling by one worker process whose provider costs
            nothing, beside a bare loop of SQL on the same table with the same batch size
  claim     time of one claim with its commit, while as many rows again are not due yet, beside the bare statements
  breakers  what the breakers and the providers' own rates add to draining the queue while all is well, in pairs of
            blocks with them and without
  wakeup    time from the commit of a notification to the commit of its claim by an idle worker

Each figure stands beside the limit that was measured in the same run, and the ratio is what can be compared between
machines. Nothing real is read, written or sent; the server is kept busy for about a minute.
"""
EXAMPLES = """\
examples:
  manage.py bench deliver
  manage.py bench deliver --count 20000 --batch-size 500 --rounds 5
  manage.py bench claim --batch-size 100
  manage.py bench wakeup --count 200
  manage.py bench breakers --rounds 10
"""


class Command(BaseCommand):
    help = DESCRIPTION
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.formatter_class = RawDescriptionHelpFormatter
        parser.epilog = EXAMPLES
        add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        plan = Plan(**{name: options[name] for name in Plan.__slots__})
        try:
            with scratch_database() as database:
                exit_code = run_on(database, plan.arguments())
        except NoScratchDatabase as error:
            raise CommandError(str(error)) from error
        sys.exit(exit_code)
