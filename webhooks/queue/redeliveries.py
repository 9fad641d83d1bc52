"""The record of what people had delivered again, written in the transaction of the effect."""

from __future__ import annotations

import json
from collections.abc import Sequence
from uuid import UUID

from django.db import connection

from notifications.queue import Act
from notifyq.leasing import Arrays

# One statement, since a bulk act records a thousand at once.
_RECORD = """
INSERT INTO webhooks_redelivery (event_id, actor_kind, actor, reason, status_before, details)
SELECT v.id, %s::text, %s::text, %s::text, v.status, %s::jsonb FROM {source}
"""


def record(act: Act | None, before: Sequence[tuple[UUID, str]]) -> None:
    """Record the redelivery of each of the events; with None it was no person at the console, and nothing is recorded.

    Args:
        before: (id, status it had), of rows that the present transaction has changed.

    Transaction: the caller's.
    """
    if act is None or not before:
        return
    arrays = Arrays({"id": "uuid", "status": "text"}, [(identity, str(status)) for identity, status in before])
    who = [act.actor.kind.value, act.actor.name, act.reason, json.dumps(dict(act.details))]
    with connection.cursor() as cursor:
        cursor.execute(_RECORD.format(source=arrays.source("v")), [*who, *arrays.parameters()])
