"""The base of this app's commands: help that keeps its examples, and one line instead of a traceback."""

from __future__ import annotations

import argparse
from textwrap import fill
from typing import Any, ClassVar

from django.core.management.base import BaseCommand, CommandError, CommandParser, DjangoHelpFormatter
from django.db import InterfaceError, OperationalError, ProgrammingError

from notifications.errors import InvalidRequest, NotFound


class _KeepLines(argparse.RawDescriptionHelpFormatter, DjangoHelpFormatter):
    """Leaves the line breaks of the examples alone."""


class TeachingCommand(BaseCommand):
    """Ends with exit code 0, or 1 and one line on standard error.

    Attributes:
        examples: shown at the end of `--help`, one a line.
    """

    examples: ClassVar[tuple[str, ...]] = ()
    requires_system_checks = []

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        lines = "\n".join(f"  manage.py {line}" for line in self.examples)
        kwargs |= {"epilog": f"examples:\n{lines}", "formatter_class": _KeepLines}
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        parser.description = fill(str(self.help), width=100)
        return parser

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self.run(**options)
        except InvalidRequest as problem:
            raise CommandError("; ".join(f"{e.field} {e.message}" for e in problem.errors)) from None
        except NotFound as problem:
            raise CommandError(str(problem)) from None
        except ProgrammingError:
            raise CommandError("the database lacks a table or column: run `manage.py migrate` first") from None
        except (OperationalError, InterfaceError) as problem:
            first_line = str(problem).strip().partition("\n")[0]
            raise CommandError(f"the database cannot be used (DATABASE_URL): {first_line}") from None

    def run(self, **options: Any) -> None:
        """What the command does."""
        raise NotImplementedError
