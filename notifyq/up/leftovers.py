"""What the demo left waiting at an earlier start, when everything still went to the sandbox: it must reach nobody."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from django.db.models import Q

from notifications import services
from notifications.channel import Channel
from notifications.errors import TooLate
from notifications.models import ActorKind, Notification
from notifications.queue import Actor
from notifications.status import Status
from notifyq.up import accounts, demo, first
from notifyq.up.addresses import TRIAL_KEY

REASON = "left over from the demo; its channel no longer goes to the sandbox alone"
_ACTOR = Actor(ActorKind.USER, "manage.py up")


def cancel(channels: Collection[Channel]) -> int:
    """Cancel what of the demo's own waits for one of these channels; how many it cancelled.

    Known by its client, key and recipient together, so that nobody's own notification is taken for one.
    """
    ours = Q(idempotency_key__startswith=demo.KEY_PREFIX) | Q(idempotency_key__startswith=TRIAL_KEY)
    to_nobody = Q(recipient__in=demo.RECIPIENTS)
    for prefix in first.RECIPIENT_PREFIXES:
        to_nobody |= Q(recipient__startswith=prefix)
    waiting = Notification.objects.filter(ours, to_nobody, status=Status.PENDING, channel__in=channels)
    named = waiting.filter(client__name__startswith=accounts.CLIENT).values_list("pk", flat=True)
    return sum(_cancel(identity) for identity in list(named))


def _cancel(identity: UUID) -> bool:
    try:
        services.cancel(identity, None, _ACTOR, reason=REASON)
    except TooLate:  # it may have been sent: then it is asked about at the sandbox, and sent to nobody else
        return False
    return True
