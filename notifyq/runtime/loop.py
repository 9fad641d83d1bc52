"""Loops that nothing ends but a stop: each round survives whatever happens in it."""

from __future__ import annotations

import logging
import random
import threading
from collections.abc import Callable
from typing import TypeVar

from django.db import DatabaseError, connection, reset_queries

log = logging.getLogger(__name__)
Result = TypeVar("Result")

FIRST_WAIT_SECONDS = 0.1
MOST_WAIT_SECONDS = 5.0


class Rounds:
    """Runs one step again and again, and waits a growing, jittered while after each failure.

    A database error costs the connection: after a restart of the server every statement on the old one fails. So there
    is no need to ask before each round whether it still works.
    """

    def __init__(self, name: str, stop: threading.Event, on_error: Callable[[str], None] = lambda name: None) -> None:
        self._name = name
        self._stop = stop
        self._on_error = on_error
        self._wait_seconds = FIRST_WAIT_SECONDS

    def run(self, step: Callable[[], Result]) -> Result | None:
        """One round. Never raises.

        Returns:
            What the step returned; None after a failure, which has been waited for (or a stop was asked for).
        """
        try:
            reset_queries()
            result = step()
        except DatabaseError as error:
            self._failed("database_unavailable", error)
        except Exception as error:  # top of a round: a bug must not end the loop
            log.exception("round_failed", extra={"loop": self._name})
            self._failed("", error)
        else:
            self._wait_seconds = FIRST_WAIT_SECONDS
            return result
        return None

    def _failed(self, event: str, error: Exception) -> None:
        connection.close()
        self._on_error(self._name)
        if event:
            log.warning(event, extra={"loop": self._name, "error": type(error).__name__})
        self._stop.wait(self._wait_seconds * random.uniform(0.5, 1.0))
        self._wait_seconds = min(MOST_WAIT_SECONDS, self._wait_seconds * 2)
