#!/usr/bin/env python3
"""Notify Queue's command line: `manage.py help` lists what it can do."""

import os
import sys

try:
    from notifyq.startup import exit_on_sigterm, needs_database, one_line_errors, provide_environment
except ImportError as error:  # also `from enum import StrEnum` in a Python that is too old
    print(  # noqa: T201 - nothing of ours could be loaded
        f"notifyq: this Python lacks what the service needs ({error}). "
        "Run `make up` once, which builds .venv, and then: .venv/bin/python manage.py …",
        file=sys.stderr,
    )
    sys.exit(2)


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "notifyq.settings")
    exit_on_sigterm()
    with one_line_errors():
        if needs_database(sys.argv):
            provide_environment()
        from django.core.management import execute_from_command_line

        execute_from_command_line(sys.argv)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
