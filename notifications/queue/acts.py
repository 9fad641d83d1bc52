"""The record of what people did, written in the transaction of the effect."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from django.db import connection

from notifications.models import Action, ActorKind, Notification, OperatorAction
from notifyq.leasing import Arrays

# One statement, since a bulk act records a thousand at once: `bulk_create` takes longer for them than all the rest.
_RECORD = """
INSERT INTO notifications_operatoraction (notification_id, action, actor_kind, actor, reason, status_before, details)
SELECT v.id, %s::text, %s::text, %s::text, %s::text, v.status, %s::jsonb || v.own::jsonb
  FROM {source}
"""

_NONE: Mapping[UUID, Mapping[str, object]] = {}


@dataclass(frozen=True, slots=True)
class Actor:
    """Who acts: `name` is the beginning of an API key or a user's name, never a secret."""

    kind: ActorKind
    name: str


@dataclass(frozen=True, slots=True)
class Act:
    """What goes into the record beside the notification and the action."""

    actor: Actor
    reason: str = field(default="", repr=False)
    details: Mapping[str, object] = field(default_factory=dict)


def record(
    action: Action,
    act: Act | None,
    before: Sequence[tuple[UUID, str]],
    own: Mapping[UUID, Mapping[str, object]] = _NONE,
) -> None:
    """Record one act on each of the notifications; with None it was no operator's, and nothing is recorded.

    Args:
        before: (id, status it had), of rows that the present transaction has changed.
        own: by id, what goes into the details of that one alone.

    Transaction: the caller's.
    """
    if act is None or not before:
        return
    rows = [(identity, str(status), json.dumps(dict(own.get(identity, {})))) for identity, status in before]
    arrays = Arrays({"id": "uuid", "status": "text", "own": "text"}, rows)
    with connection.cursor() as cursor:
        cursor.execute(
            _RECORD.format(source=arrays.source("v")),
            [
                action.value,
                act.actor.kind.value,
                act.actor.name,
                act.reason,
                json.dumps(dict(act.details)),
                *arrays.parameters(),
            ],
        )


def hold_for_act(notification_id: UUID) -> OperatorAction | None:
    """Keep everybody else from acting on a notification until the present transaction ends.

    Returns:
        The last act on it; None when there was none, or no such notification.

    Transaction: the caller's. Locks: the row; waits for whoever else is changing it.
    """
    list(Notification.objects.select_for_update(no_key=True).filter(pk=notification_id).values_list("pk"))
    return OperatorAction.objects.filter(notification=notification_id).order_by("-pk").first()
