"""Taking a provider out of use, and into it again."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.db import transaction

from notifications import metrics, queue, selectors
from notifications.channel import Channel
from notifications.errors import ActedMeanwhile, FieldError, InvalidRequest, NotFound
from notifications.selectors import BreakerView

log = logging.getLogger(__name__)

REASON_MAX_LENGTH = 255


def trip_breaker(channel: str, provider: str, *, reason: object = None, by: str) -> BreakerView:
    """Call the provider for this channel no more, until somebody resets it: it is not probed, however long that takes.
    The others of the chain go on. Safe to repeat: the first reason stays.

    Args:
        provider: a name from the channel's chain.
        by: who does it, for the record.

    Raises:
        NotFound: the channel's chain has no such provider.
        InvalidRequest: the reason is no line of text.

    Transaction: the caller's, or one of its own.
    """
    use_no_more(channel, provider, reason=reason, by=by)
    return selectors.breaker(Channel[channel], provider)


def use_no_more(channel: str, provider: str, *, reason: object = None, by: str) -> bool:
    """The same, for those who only want to know whether anything came of it: what is tripped already stays so, and no
    record is made.

    Raises, Transaction: as `trip_breaker`.
    """
    key, text = check_breaker(channel, provider, reason)
    change = queue.trip_breaker(key, by=by, reason=text)
    if change.opened:
        metrics.record_breaker_trip(*key)
    has_effect = change.after != change.before
    if has_effect:
        log.warning("breaker_tripped", extra={"channel": key[0], "provider": provider, "by": by})
    return has_effect


def reset_breaker(channel: str, provider: str, *, reason: object = None, by: str) -> BreakerView:
    """Close the breaker, whoever opened it, and end the rest that the provider may have asked for: it is called again
    at once. Safe to repeat.

    Raises, Transaction: as `trip_breaker`.
    """
    use_again(channel, provider, reason=reason, by=by)
    return selectors.breaker(Channel[channel], provider)


def use_again(channel: str, provider: str, *, reason: object = None, by: str) -> bool:
    """The same, for those who only want to know whether anything came of it: what is in use already stays so, and no
    record is made.

    Raises, Transaction: as `trip_breaker`.
    """
    key, text = check_breaker(channel, provider, reason)
    _, has_effect = queue.reset_breaker(key, by=by, reason=text)
    if has_effect:
        log.warning("breaker_reset", extra={"channel": key[0], "provider": provider, "by": by})
    return has_effect


@contextmanager
def breaker_as_seen(channel: str, provider: str, last_act_id: int) -> Iterator[None]:
    """Let what is done inside go ahead only where nobody has acted on the breaker since the caller looked: of two
    clicks, or two windows, one has an effect.

    Args:
        last_act_id: of the last act on any breaker that the caller could know of; 0 for none.

    Raises:
        ActedMeanwhile: there is a newer one.
        NotFound: the channel's chain has no such provider.

    Transaction: one around all of it, or the caller's. Locks: the breaker's row.
    """
    key, _ = check_breaker(channel, provider, None)
    with transaction.atomic():
        last = queue.hold_breaker(key)
        if last is not None and last.pk > last_act_id:
            raise ActedMeanwhile(last.action, last.actor)
        yield


def check_breaker(channel: str, provider: str, reason: object) -> tuple[tuple[Channel, str], str]:
    """Which breaker is meant, and the reason as it is stored. What was opened before it left its chain can be reset.

    Raises:
        NotFound: the channel's chain has no such provider.
        InvalidRequest: the reason is no line of text.
    """
    chains = settings.NOTIFYQ.provider_chains
    if (
        channel not in Channel.__members__
        or not provider.isprintable()
        or not (provider in chains[Channel[channel]] or selectors.has_breaker(Channel[channel], provider))
    ):
        raise NotFound("no such provider serves this channel")
    text = "" if reason is None else reason
    if not isinstance(text, str) or len(text) > REASON_MAX_LENGTH or not text.isprintable():
        wrong = FieldError("reason", "invalid", f"must be at most {REASON_MAX_LENGTH} printable characters")
        raise InvalidRequest([wrong])
    return (Channel[channel], provider), text
