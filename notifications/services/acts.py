"""What is said of an operator's act: in the record, and in the log."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from uuid import UUID

from django.db import transaction

from notifications import queue
from notifications.errors import ActedMeanwhile
from notifications.models import Action
from notifications.queue import Act, Actor
from notifications.request.fields import Fields

log = logging.getLogger(__name__)

REASON_MAX_LENGTH = 500
TRIES = 5
"""How often a state is read anew that changed between the look and the act, before it is called too late."""


def read_reason(fields: Fields, *, required: bool = False) -> str:
    """Why, in the operator's own words."""
    return fields.text("reason", max_length=REASON_MAX_LENGTH, required=required) or ""


def act_of(actor: Actor | None, reason: str = "", details: Mapping[str, object] | None = None) -> Act | None:
    """The act of an operator; None for a client, whose reasons are its own."""
    return None if actor is None else Act(actor, reason, details or {})


@contextmanager
def as_seen(notification_id: UUID, last_act_id: int) -> Iterator[None]:
    """Let what is done inside go ahead only where nobody has acted since the caller looked: of two clicks, or two
    windows, one has an effect, however quickly the notification comes back into the state that the act is for.

    Args:
        last_act_id: of the last `OperatorAction` that the caller knew; 0 for none.

    Raises:
        ActedMeanwhile: there is a newer one.

    Transaction: one around all of it, or the caller's. Locks: the row; waits for whoever else is changing it.
    """
    with transaction.atomic():
        last = queue.hold_for_act(notification_id)
        if last is not None and last.pk != last_act_id:
            raise ActedMeanwhile(last.action, last.actor)
        yield


def log_act(action: Action, actor: Actor | None, *, notification_id: object = None, count: int = 1) -> None:
    """One line for one act of an operator that had an effect. The reason stays out: it may name somebody."""
    if actor is None or count == 0:
        return
    log.info(
        "operator_acted",
        extra={
            "action": action.value,
            "actor_kind": actor.kind.value,
            "actor": actor.name,
            "notification_id": None if notification_id is None else str(notification_id),
            "count": count,
        },
    )
