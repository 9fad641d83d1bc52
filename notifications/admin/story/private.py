"""The story as those may read it who may not see what is private. No queries."""

from __future__ import annotations

from dataclasses import replace

from notifications.models import Notification
from notifications.story.moment import Moment
from notifications.story.said import Said
from notifyq.console import scrubbed, shortened

_IDS = frozenset({"message id", "group", "bulk act"})
"""Facts that name no person, though they may look like an address or a number."""


def scrubbed_moment(moment: Moment, row: Notification) -> Moment:
    """Without the excerpt, and without addresses in what others wrote."""
    facts = tuple((label, _fact(label, said, row)) for label, said in moment.facts)
    return replace(moment, title=scrubbed_words(moment.title, row), facts=facts, excerpt="")


def scrubbed_words(said: Said, row: Notification) -> Said:
    """A sentence, with the row's own recipient and labels, and any address, masked."""
    private = (row.recipient, row.recipient.partition(":")[2], row.idempotency_key, row.reference, row.user_id)
    long_enough = [text for text in private if len(text) > 3]  # a shorter one would be found in other words
    return tuple(scrubbed(part, *long_enough) if isinstance(part, str) else part for part in said)


def _fact(label: str, said: Said, row: Notification) -> Said:
    if label == "idempotency key":
        return (shortened(row.idempotency_key),)
    return said if label in _IDS else scrubbed_words(said, row)
