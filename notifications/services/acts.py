"""What is said of an operator's act: in the record, and in the log."""

from __future__ import annotations

import logging

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


def act_of(actor: Actor | None) -> Act | None:
    """The act of an operator who gives no reason; None for a client."""
    return None if actor is None else Act(actor)


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
