"""What the answers of a batch say about the endpoints themselves."""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now

from webhooks import metrics
from webhooks.models import WebhookEndpoint
from webhooks.outcome import BUG, Decision
from webhooks.status import DisabledReason, EventStatus

log = logging.getLogger(__name__)

DISABLE_AFTER = timedelta(days=5)
"""An endpoint that has done nothing but fail for so long is disabled."""


def note_answers(answers: Sequence[tuple[UUID, Decision]]) -> None:
    """Remember which endpoints fail, forget it of those that succeed, and disable those that are gone for good.

    An endpoint whose health stays as it was is not written: a busy one would be a hot row.

    Args:
        answers: (endpoint id, what its answer led to).

    Transaction: the caller's. Locks: the rows that change, in the order of their ids.
    """
    succeeded = {key for key, d in answers if d.status is EventStatus.DELIVERED}
    failed = {key for key, d in answers if d.status is not EventStatus.DELIVERED and d.error_code != BUG} - succeeded
    gone = {key for key, d in answers if d.endpoint_gone}
    rows = WebhookEndpoint.objects
    _change(rows.filter(id__any=succeeded, failing_since__isnull=False), failing_since=None)
    _change(rows.filter(id__any=failed, failing_since__isnull=True), failing_since=Now())
    _disable(rows.filter(id__any=gone, enabled=True), DisabledReason.GONE)
    over = rows.filter(id__any=failed, enabled=True, failing_since__lte=Now() - DISABLE_AFTER)
    _disable(over, DisabledReason.FAILING)


def _disable(rows: QuerySet[WebhookEndpoint], reason: DisabledReason) -> None:
    disabled = _change(rows, enabled=False, disabled_at=Now(), disabled_reason=reason, updated_at=Now())
    if disabled:
        transaction.on_commit(lambda: _tell(disabled, reason), robust=True)


def _tell(disabled: Collection[UUID], reason: DisabledReason) -> None:
    metrics.record_endpoints_disabled(reason, len(disabled))
    for key in disabled:
        log.warning("webhook_endpoint_disabled", extra={"endpoint_id": str(key), "reason": reason})


def _change(rows: QuerySet[WebhookEndpoint], **changes: object) -> list[UUID]:
    """Lock in one order first, so that two dispatchers cannot wait for each other."""
    if not rows.exists():
        return []
    keys = list(rows.order_by("pk").select_for_update(no_key=True).values_list("pk", flat=True))
    WebhookEndpoint.objects.filter(id__any=keys).update(**changes)
    return keys
