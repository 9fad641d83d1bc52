"""Telling others of final outcomes, inside the transaction that makes them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from uuid import UUID

from notifications.queue.tallies import tally

Listener = Callable[[Sequence[UUID]], None]
_listeners: list[Listener] = []


def on_outcome(listener: Listener) -> None:
    """Have `listener` called with the ids of notifications that have just reached a final state.

    It runs in the transaction of the outcome, whose rows it may read as they are now: what it writes is committed
    together with the outcome or not at all. Called once, when the application starts.
    """
    if listener not in _listeners:
        _listeners.append(listener)


def announce(ids: Sequence[UUID]) -> None:
    """Count these rows, which this transaction has moved to a final state, and call the listeners."""
    if not ids:
        return
    tally(ids)
    for listener in _listeners:
        listener(ids)
