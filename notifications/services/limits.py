"""The rules of the rate limits: added, changed, taken away. Every effect is on record, with what a rule said before."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from django.db import transaction

from notifications import queue
from notifications.errors import ActedMeanwhile, NotFound
from notifications.models import Control, ControlAction
from ratelimits import rules
from ratelimits.models import RateLimitRule
from ratelimits.rules import NewTerms, RuleColumns


def add_limit(columns: RuleColumns, *, reason: str, by: str) -> RateLimitRule:
    """Add a rule; see `ratelimits.rules.store`, also for what is raised.

    Args:
        by: who does it, for the record.

    Transaction: the caller's, or one of its own.
    """
    with transaction.atomic():
        made = rules.store(None, **columns, by=by)
        _record(None, made, reason=reason, by=by)
    return made


def edit_limit(rule_id: UUID, seen: str, columns: RuleColumns, *, reason: str, by: str) -> RateLimitRule:
    """Change a rule, what it holds for included. One that then holds for something else is on record as taken away
    there, and added here.

    Args:
        seen: how it stood when the caller looked at it, see `RateLimitRule.stand`.

    Raises:
        ActedMeanwhile: it stands otherwise by now.
        NotFound: it is not there any more.
        RuleTaken: another rule has the same channel and client.

    Transaction: the caller's, or one of its own. Locks: the rule.
    """
    with transaction.atomic():
        if not (held := rules.hold([rule_id])):
            raise NotFound("there is no such rule")
        [before] = held
        if before.stand != seen:
            raise _acted(before)
        after = rules.store(rule_id, **columns, by=by)
        if before.control_name == after.control_name:
            _record(before, after, reason=reason, by=by)
        else:
            _record(before, None, reason=reason, by=by)
            _record(None, after, reason=reason, by=by)
    return after


def change_limits(
    seen: Mapping[UUID, str], terms: NewTerms, *, reason: str, by: str
) -> list[tuple[RateLimitRule, RateLimitRule]]:
    """Give rules other terms, all at the same instant. What stands otherwise than the caller saw it is left alone, as
    is what these terms leave as it is.

    Args:
        seen: how each rule stood, by its id.

    Returns:
        Those that were changed: each as it was, and as it is.

    Transaction: the caller's, or one of its own. Locks: the rules, in the order of their ids.
    """
    with transaction.atomic():
        held = [rule for rule in rules.hold(seen) if rule.stand == seen[rule.pk]]
        pairs = [(rule, terms.given_to(rule)) for rule in held]
        changed = [(before, after) for before, after in pairs if before.terms != after.terms]
        rules.set_terms([after for _, after in changed], by=by)
        for before, after in changed:
            _record(before, after, reason=reason, by=by)
    return changed


def remove_limits(seen: Mapping[UUID, str], *, reason: str, by: str) -> list[RateLimitRule]:
    """Take rules away, all at the same instant: the next exact one, or the default, holds in the place of each. What
    stands otherwise than the caller saw it is left alone.

    Returns:
        Those that were taken away.

    Args, Transaction, Locks: as `change_limits`.
    """
    with transaction.atomic():
        held = [rule for rule in rules.hold(seen) if rule.stand == seen[rule.pk]]
        rules.remove(*held, by=by)
        for rule in held:
            _record(rule, None, reason=reason, by=by)
    return held


def _record(before: RateLimitRule | None, after: RateLimitRule | None, *, reason: str, by: str) -> None:
    rule = after or before
    assert rule is not None  # noqa: S101 (one of them is given)
    is_change = before is not None and after is not None
    action = ControlAction.CHANGE if is_change else ControlAction.ADD if after else ControlAction.REMOVE
    said = {"before": before.terms if before else "", "after": after.terms if after else ""}
    queue.record_control(Control.LIMIT, rule.control_name, action, by=by, reason=reason, **said)


def _acted(rule: RateLimitRule) -> ActedMeanwhile:
    last = queue.last_control_act(Control.LIMIT, rule.control_name)
    return ActedMeanwhile(last.action, last.actor) if last else ActedMeanwhile("changed", "somebody")
