"""The record of what people did, written in the transaction of the effect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from notifications.models import Action, ActorKind, Notification, OperatorAction


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


def record(action: Action, act: Act | None, before: Sequence[tuple[UUID, str]]) -> None:
    """Record one act on each of the notifications; with None it was no operator's, and nothing is recorded.

    Args:
        before: (id, status it had), of rows that the present transaction has changed.

    Transaction: the caller's.
    """
    if act is None:
        return
    OperatorAction.objects.bulk_create(
        OperatorAction(
            notification_id=identity,
            action=action,
            actor_kind=act.actor.kind,
            actor=act.actor.name,
            reason=act.reason,
            status_before=status,
            details=dict(act.details),
        )
        for identity, status in before
    )


def hold_for_act(notification_id: UUID) -> OperatorAction | None:
    """Keep everybody else from acting on a notification until the present transaction ends.

    Returns:
        The last act on it; None when there was none, or no such notification.

    Transaction: the caller's. Locks: the row; waits for whoever else is changing it.
    """
    list(Notification.objects.select_for_update(no_key=True).filter(pk=notification_id).values_list("pk"))
    return OperatorAction.objects.filter(notification=notification_id).order_by("-pk").first()
