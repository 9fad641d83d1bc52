"""What follows from asking a provider about a send that nobody is sure of. Pure, no database.

Only the provider's own word ends the doubt. Whatever else comes back, it is asked again, until it can know no more;
then the notification's `onUnconfirmed` decides.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from notifications.outcome import (
    EXPIRED,
    EXPIRED_TEXT,
    NOT_RECEIVED,
    UNCONFIRMED,
    Decision,
    Standing,
    wants_retry,
)
from notifications.retry import RETRY_AFTER_MOST_SECONDS, Backoff
from notifications.status import Status
from notifications.verdict import Finding, Found

NOT_ASKABLE = "not_askable"
"""Why nothing was found: the provider has left its chain, or may no longer be asked."""

NOT_ASKABLE_SECONDS = 3600.0
"""For so long after a send a provider that cannot be asked is waited for. Workers that are just being given another
chain do not all see it at the same time, and a chain that was changed by mistake is changed back."""

_NOT_RECEIVED_TEXT = "the provider was asked, and never had it"
_NOBODY_KNOWS_TEXT = "it may have been sent: the provider could not say"


@dataclass(frozen=True, slots=True)
class Doubt:
    """How a notification stands about which its provider was asked.

    Attributes:
        standing: its attempts counted so far; the provider in `unconfirmed_provider` was asked.
        asked_count: how often it was, this time included.
        seconds_left: until its provider knows no more; 0 or less when that is so.
        is_past_ttl: its time to live is over.
    """

    standing: Standing
    asked_count: int
    seconds_left: float
    is_past_ttl: bool


def after_finding(doubt: Doubt, finding: Finding, *, backoff: Backoff, dice: random.Random) -> Decision:
    """The provider was asked, and this is what it said.

    Returns:
        A decision; one that leaves it RECONCILING says after how many seconds to ask again.
    """
    if finding.found is Found.ACCEPTED:
        provider = doubt.standing.unconfirmed_provider
        return Decision(Status.SENT, provider=provider, provider_message_id=finding.provider_message_id)
    if finding.found is Found.REJECTED:
        code, message = finding.error_code, finding.error_message
        return Decision(Status.FAILED, error_code=code, error_message=message, not_sent=True)
    if doubt.seconds_left <= 0:
        return _nobody_knows(doubt)  # one that has forgotten what it had says "no such message" as well
    if finding.found is Found.ABSENT:
        return _certainly_not_sent(doubt)
    return _ask_again(doubt, finding, backoff, dice)


def _certainly_not_sent(doubt: Doubt) -> Decision:
    """The doubt is over, so any provider may send it."""
    if doubt.is_past_ttl:
        return Decision(Status.EXPIRED, error_code=EXPIRED, error_message=EXPIRED_TEXT, not_sent=True)
    again = doubt.standing.attempts_left
    return Decision(
        Status.PENDING if again else Status.DEAD_LETTERED,
        wait_seconds=0.0 if again else None,
        error_code=NOT_RECEIVED,
        error_message=_NOT_RECEIVED_TEXT,
        suspect=again and doubt.standing.suspect,
        not_sent=True,
    )


def _nobody_knows(doubt: Doubt) -> Decision:
    standing = doubt.standing
    again = wants_retry(standing) and standing.attempts_left and not doubt.is_past_ttl
    return Decision(
        Status.PENDING if again else Status.DEAD_LETTERED,
        wait_seconds=0.0 if again else None,
        error_code=UNCONFIRMED,
        error_message=_NOBODY_KNOWS_TEXT,
        unconfirmed_provider=standing.unconfirmed_provider,
        suspect=again and standing.suspect,
    )


def _ask_again(doubt: Doubt, finding: Finding, backoff: Backoff, dice: random.Random) -> Decision:
    floor = min(finding.retry_after_seconds or 0.0, RETRY_AFTER_MOST_SECONDS)
    wait = backoff.wait_seconds(doubt.asked_count, at_least_seconds=floor, dice=dice)
    standing = doubt.standing
    return Decision(
        Status.RECONCILING,
        # Asked a last time when it can know no more, however long the pauses have grown.
        wait_seconds=max(floor, min(wait, doubt.seconds_left)),
        unconfirmed_provider=standing.unconfirmed_provider,
        suspect=standing.suspect,
    )
