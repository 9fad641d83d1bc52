"""Runs in the process that `manage.py bench` starts, on its scratch database."""

from __future__ import annotations

import logging
import os
import sys
from argparse import ArgumentParser

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "notifyq.settings")

import django
from django.core.management import call_command

from notifyq.bench.plan import Plan, add_arguments
from notifyq.runtime.memory import spare_what_is_loaded


def main() -> None:
    parser = ArgumentParser(prog="bench")
    add_arguments(parser)
    plan = Plan(**vars(parser.parse_args()))
    django.setup()
    _write_logs_as_always_but_nowhere()
    call_command("migrate", verbosity=0, skip_checks=True)
    from notifyq.bench import breakers, claim, deliver, wakeup  # the models need Django

    spare_what_is_loaded()  # as each worker process does
    measures = {"deliver": deliver.run, "claim": claim.run, "wakeup": wakeup.run, "breakers": breakers.run}
    measures[plan.measure](plan)


def _write_logs_as_always_but_nowhere() -> None:
    """Writing them is part of the work; reading them is not. Errors are shown."""
    for handler in logging.getLogger().handlers:
        if isinstance(handler, logging.StreamHandler):
            handler.setStream(open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 (as long as the process)
    errors = logging.StreamHandler(sys.stderr)
    errors.setLevel(logging.ERROR)
    logging.getLogger().addHandler(errors)


if __name__ == "__main__":
    main()
