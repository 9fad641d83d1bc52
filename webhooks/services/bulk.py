"""Have everything that matches a filter delivered again: look first, then the workers do it. Only operators do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from notifications.errors import InvalidRequest
from notifications.request.fields import LABEL_MAX_LENGTH, Fields
from notifications.selectors import database_now
from notifications.services.bulk import SAMPLE_SIZE, read_client, read_window
from webhooks import queue
from webhooks.models import WebhookEvent
from webhooks.queue import EventCount, EventSelection
from webhooks.status import FINAL, EventStatus

FINISHED = "FINISHED"
"""Whatever became of it."""
STATUSES = (EventStatus.FAILED.value, *sorted(FINAL - {EventStatus.FAILED}), FINISHED, EventStatus.PENDING.value)
"""What is delivered again; the first is meant when none is named."""
CODE_MAX_LENGTH, TYPE_MAX_LENGTH = 64, 40


@dataclass(frozen=True, slots=True)
class RedeliveryPreview:
    """What would be delivered again, as things stood at the cutoff.

    Attributes:
        count: None when counting took too long.
        sample: the first ten; None when even that took too long.
        waiting_count: where nothing matches, how many do that wait for a later try instead.
    """

    selection: EventSelection
    cutoff: datetime
    count: EventCount | None
    sample: list[WebhookEvent] | None
    waiting_count: int = 0


def read_redelivery(raw: Mapping[str, str]) -> EventSelection:
    """The filter that text values by name stand for; empty ones count as absent.

    Args:
        raw: `status` (any case), `endpoint` (its id), `client` (name or id), `type`, `error_code`, `after`, `before`.
            A time without an offset is UTC, one without a time of day its beginning.

    Raises:
        InvalidRequest: with all that is wrong.
    """
    given = {name: value.strip() for name, value in raw.items() if value.strip()}
    given |= {"status": given["status"].upper()} if "status" in given else {}
    fields = Fields(given)
    status = fields.option("status", STATUSES) or STATUSES[0]
    after, before = read_window(fields)
    selection = EventSelection(
        status=None if status == FINISHED else EventStatus(status),
        endpoint_id=_endpoint(fields),
        client_id=read_client(fields),
        type=fields.text("type", max_length=TYPE_MAX_LENGTH),
        error_code=fields.text("error_code", max_length=CODE_MAX_LENGTH),
        after=after,
        before=before,
    )
    if fields.errors:
        raise InvalidRequest(fields.errors)
    return selection


def preview_redelivery(selection: EventSelection, cutoff: datetime | None = None) -> RedeliveryPreview:
    """What would be delivered again now. Changes nothing; `notifications.services.begin_bulk` begins it.

    Args:
        cutoff: of an earlier preview, to see the same again.
    """
    at = cutoff or database_now()
    count = queue.count_redeliverable(selection, at)
    sample = queue.sample_redeliverable(selection, at, SAMPLE_SIZE)
    waiting = _waiting(selection, at) if count is not None and not count.total else 0
    return RedeliveryPreview(selection, at, count, sample, waiting)


def _waiting(selection: EventSelection, at: datetime) -> int:
    if selection.status is EventStatus.PENDING:
        return 0
    count = queue.count_redeliverable(replace(selection, status=EventStatus.PENDING), at)
    return count.actionable if count else 0


def _endpoint(fields: Fields) -> UUID | None:
    """One that is not there matches nothing, which is what the preview says."""
    text = fields.text("endpoint", max_length=LABEL_MAX_LENGTH)
    if text is None:
        return None
    try:
        return UUID(text)
    except ValueError:
        fields.wrong("endpoint", "not_a_uuid", "must be the id of an endpoint")
        return None
