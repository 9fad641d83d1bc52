"""Changing the rules."""

from __future__ import annotations

import copy
import logging
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TypedDict
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models.functions import Now

from ratelimits import ledger
from ratelimits.models import RateLimitRule

log = logging.getLogger(__name__)


class RuleTaken(Exception):
    """There is a rule for this channel and client already."""


class RuleColumns(TypedDict):
    """All that a rule says; see `store`."""

    channel: str
    client_id: UUID | None
    limit_count: int | None
    window_seconds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTerms:
    """What is to become of the terms of a rule; what is None stays as it is.

    Attributes:
        limit_count: most sends in a window.
        no_limit: takes the limit away, whatever the count was.
    """

    limit_count: int | None = None
    no_limit: bool = False
    window_seconds: int | None = None

    def given_to(self, rule: RateLimitRule) -> RateLimitRule:
        """The rule as it will be; nothing is stored."""
        after = copy.copy(rule)
        after.limit_count = None if self.no_limit else self.limit_count or rule.limit_count
        after.window_seconds = self.window_seconds or rule.window_seconds
        return after


def hold(rule_ids: Collection[UUID]) -> list[RateLimitRule]:
    """Those of the rules that are there, kept from everybody else until the transaction ends.

    Transaction: the caller's. Locks: the rows, in the order of their ids.
    """
    return list(RateLimitRule.objects.filter(pk__in=rule_ids).order_by("pk").select_for_update())


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

    Transaction: the caller's, or one of its own; then the gates are opened for another look.
    """
    columns = {"channel": channel, "client_id": client_id, "limit_count": limit_count, "window_seconds": window_seconds}
    try:
        with transaction.atomic():
            if rule_id is None:
                rule = RateLimitRule.objects.create(**columns)
            else:
                RateLimitRule.objects.filter(pk=rule_id).update(**columns, updated_at=Now())
                rule = RateLimitRule.objects.get(pk=rule_id)
    except IntegrityError:
        raise RuleTaken("there is a rule for this channel and client already") from None
    _changed([rule], "stored", by)
    return rule


def set_terms(rules: Collection[RateLimitRule], *, by: str) -> None:
    """Store the terms that these rules have; all of them are in force at the same instant.

    Transaction: the caller's, which holds them; then the gates are opened for another look.
    """
    for rule in rules:
        RateLimitRule.objects.filter(pk=rule.pk).update(
            limit_count=rule.limit_count, window_seconds=rule.window_seconds, updated_at=Now()
        )
    _changed(rules, "stored", by)


def remove(*rules: RateLimitRule, by: str) -> None:
    """Take rules away: the next exact one, or the default, holds in the place of each. Safe to repeat."""
    gone = [rule for rule in rules if RateLimitRule.objects.filter(pk=rule.pk).delete()[0]]
    _changed(gone, "removed", by)


def _changed(rules: Iterable[RateLimitRule], what: str, by: str) -> None:
    for rule in rules:
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
    # Claims read the new rules only once they are committed, so the gates are opened after that.
    transaction.on_commit(ledger.open_gates)
