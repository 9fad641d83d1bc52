"""The delivery workers."""

from __future__ import annotations

import logging
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from notifications.channel import Channel
from notifications.delivery.supervisor import Supervisor
from notifications.delivery.worker import Role, WorkerOptions
from notifications.errors import ConfigurationError
from notifications.providers import chains
from notifications.providers.chains import Chains
from notifications.retry import Backoff
from notifyq.env import Config, Environment
from notifyq.runtime.numerals import between
from notifyq.unknown_variables import unknown_variables
from ratelimits.window import Limit

log = logging.getLogger(__name__)

DESCRIPTION = """\
Claim due notifications and deliver them, until SIGTERM or Ctrl-C.

Run it on as many machines as you like: the workers agree through PostgreSQL alone. On SIGTERM it claims no more,
gives back what it has not begun, finishes what is on its way (for at most NOTIFYQ_GRACE_SECONDS) and exits with 0.
A second signal ends it at once; what it held is taken back by other workers.
"""
EXAMPLES = """\
examples:
  manage.py run_workers                                one process, 8 sends at a time
  manage.py run_workers --processes 4 --concurrency 32 for slow providers and many cores
  manage.py run_workers --channel EMAIL --channel SMS  nothing else
  manage.py run_workers --drain                        until nothing is due, then exit
"""
A_FEW = between(1, 10_000)


class Command(BaseCommand):
    help = DESCRIPTION
    requires_system_checks: list[str] = []  # they come after the providers, which say in one line what is wrong

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.formatter_class = RawDescriptionHelpFormatter
        parser.epilog = EXAMPLES
        parser.add_argument("--processes", type=A_FEW, default=1, metavar="N", help="delivery processes (1)")
        parser.add_argument("--concurrency", type=A_FEW, default=8, metavar="N", help="sends at a time of each (8)")
        parser.add_argument("--batch-size", type=A_FEW, default=250, metavar="N", help="most rows of a claim (250)")
        parser.add_argument(
            "--channel", action="append", choices=list(Channel), default=[], help="only this channel; may be repeated"
        )
        parser.add_argument("--drain", action="store_true", help="exit when nothing is due")

    def handle(self, *args: Any, **options: Any) -> None:
        config: Config = settings.NOTIFYQ

        def make_chains() -> Chains:
            return chains.build(config.provider_chains, Environment())

        try:
            supervisor = Supervisor(worker_options(config, options), options["processes"], make_chains)
        except ConfigurationError as error:
            self.stderr.write(str(error))
            sys.exit(2)
        self.check()
        for name, nearest in unknown_variables():
            log.warning("unknown_variable", extra={"variable": name, "nearest": nearest})
        sys.exit(supervisor.run())


def worker_options(config: Config, options: dict[str, Any]) -> WorkerOptions:
    """What the command line and the settings say together."""
    return WorkerOptions(
        role=Role.DELIVERY,
        seat_count=options["concurrency"],
        batch_size=options["batch_size"],
        channels=tuple(Channel(c) for c in options["channel"]),
        lease_seconds=config.lease_seconds,
        send_timeout_seconds=config.send_timeout_seconds,
        send_timeouts=config.send_timeouts,
        poll_seconds=config.poll_seconds,
        grace_seconds=config.grace_seconds,
        backoff=Backoff(config.backoff_base_seconds, config.backoff_max_seconds),
        rate_limit=rate_limit(config),
        aging_seconds=config.aging_seconds,
        lookup_backoff=Backoff(config.lookup_backoff_base_seconds, config.lookup_backoff_max_seconds),
        breaker_rules=config.breaker_rules,
        provider_rates=config.provider_rates,
        wakeup=config.wakeup,
        drain=options["drain"],
    )


def rate_limit(config: Config) -> Limit | None:
    """The limit for whatever no rule names; a count of 0 means none."""
    if not config.rate_limit_count:
        return None
    return Limit(config.rate_limit_count, config.rate_limit_window_seconds)
