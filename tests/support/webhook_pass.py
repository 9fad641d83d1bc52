"""The dispatcher inside the test's own process."""

from __future__ import annotations

from webhooks.dispatch.call import EndpointCaller
from webhooks.dispatch.dispatcher import Dispatcher, DispatcherOptions


def options(**changes):
    known = {
        "seat_count": 8,
        "max_attempts": 10,
        "poll_seconds": 1.0,
        "grace_seconds": 5.0,
        "wakeup": False,
        "forever": False,
    }
    return DispatcherOptions(**(known | changes))


def one_pass(timeout_seconds=5.0, allow_private=True, certificates=True, **changes):
    """A whole pass; returns its counts."""
    caller = EndpointCaller(timeout_seconds=timeout_seconds, allow_private=allow_private, certificates=certificates)
    dispatcher = Dispatcher(options(**changes), caller)
    assert dispatcher.run()
    return dispatcher.counts
