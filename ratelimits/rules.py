"""Changing the rules."""

from __future__ import annotations

import logging
from uuid import UUID

from django.db import IntegrityError, transaction

from ratelimits import ledger
from ratelimits.models import RateLimitRule

log = logging.getLogger(__name__)


class RuleTaken(Exception):
    """There is a rule for this channel and client already."""


def store(
    rule_id: UUID | None, *, channel: str, client_id: UUID | None, limit_count: int | None, window_seconds: int, by: str
) -> RateLimitRule:
    """Add a rule, or change the one with this id. In force from the next claim on, also for what waits already.

    Args:
        channel: empty for every channel.
        client_id: None for all clients together.
        limit_count: None for no limit.
        by: who does it, for the log.

    Raises:
        RuleTaken: another rule has the same channel and client.

    Transaction: one of its own, then the gates are opened for another look.
    """
    columns = {"channel": channel, "client_id": client_id, "limit_count": limit_count, "window_seconds": window_seconds}
    try:
        with transaction.atomic():
            if rule_id is None:
                rule = RateLimitRule.objects.create(**columns)
            else:
                RateLimitRule.objects.filter(pk=rule_id).update(**columns)
                rule = RateLimitRule.objects.get(pk=rule_id)
    except IntegrityError:
        raise RuleTaken("there is a rule for this channel and client already") from None
    _changed(rule, "stored", by)
    return rule


def remove(rule: RateLimitRule, *, by: str) -> None:
    """Take a rule away: the next exact one, or the default, holds in its place. Safe to repeat."""
    if RateLimitRule.objects.filter(pk=rule.pk).delete()[0]:
        _changed(rule, "removed", by)


def _changed(rule: RateLimitRule, what: str, by: str) -> None:
    log.warning(
        "rate_limit_rule_changed",
        extra={
            "what": what,
            "channel": rule.channel,
            "client_id": str(rule.client_id or ""),
            "limit_count": rule.limit_count,
            "window_seconds": rule.window_seconds,
            "by": by,
        },
    )
    # Claims read the new rule only once it is committed, so the gates are opened after that.
    transaction.on_commit(ledger.open_gates)
