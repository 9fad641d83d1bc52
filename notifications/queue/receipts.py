"""Taking in what providers report later, and looking again at what came too early."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from django.db import connection
from django.db.models import BooleanField, DurationField, ExpressionWrapper, F, Q, Value
from django.db.models.functions import Greatest, Least, Now

from notifications.errors import NotifyError
from notifications.models import OnceToken, Receipt
from notifications.queue.credit import Credited, Report, credit
from notifications.receipts import Receipt as Reported
from notifyq.leasing import Arrays, in_transaction_bounded, lock

LIMIT = 500
WAIT_MOST = timedelta(days=3)
"""What belongs to no notification by then is dropped: other systems may use the same account."""
TOKENS_KEPT = timedelta(days=1)
"""Longer than any receiver takes a timestamp for fresh."""
LOOKS_APART = timedelta(seconds=1)
_LOOKS_APART_MOST = timedelta(hours=1)

_IS_OLD = ExpressionWrapper(Q(received_at__lt=Now() - WAIT_MOST), output_field=BooleanField())
_RECEIPT = {
    "provider": "text",
    "event_id": "text",
    "key": "uuid",
    "provider_message_id": "text",
    "status": "text",
    "word": "text",
    "code": "text",
    "text": "text",
    "at": "timestamptz",
}


class TokenUsed(NotifyError):
    """The token of the signature came with another body before: whoever sends it now did not sign it."""


@dataclass(frozen=True, slots=True)
class Once:
    """A token that is good for one body only."""

    provider: str
    token: str = field(repr=False)
    body_hash: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Taken:
    """What one callback came to.

    Attributes:
        new: by (provider, status), without those that were known.
        credited: what became of them at once.
    """

    new: Counter[tuple[str, str]]
    credited: Credited


def receive(receipts: Sequence[Reported], once: Once | None = None) -> Taken:
    """Store what a provider reports, and count it where its notification can be told and is not held by a worker. The
    rest waits for `look_again`.

    Args:
        receipts: with bounded, storable texts. Those that are known already change nothing.
        once: the token of a signature that does not cover the body.

    Returns:
        What is new. Safe to repeat, and with any number of callers at once.

    Raises:
        TokenUsed: nothing was stored.

    Transaction: one short one. Locks: of several callers with the same report the second waits for the first;
    notifications are passed over where somebody holds them.
    """
    with in_transaction_bounded():
        if once is not None:
            _use_up(once)
        new = _insert(receipts) if receipts else []
        credited = credit(new)
    return Taken(Counter((report.provider, report.status.value) for report in new), credited)


def look_again(limit: int = LIMIT) -> Credited:
    """One bounded pass over receipts that wait: their notification was not there, not sent yet, or held by a worker.

    Each is looked at every second while its notification is held, and after ever longer pauses while it has none, or
    that was not sent yet. What still has none after WAIT_MOST is dropped; what was not sent through who reports by then
    is kept and counts for nothing.

    Returns:
        What became of them; call again at once when `looked_count` is `limit`.

    Transaction: one short one, none when nothing waits. Index: `receipt_waiting`. Locks: the receipts, then the
    notifications, passing over locked ones of both. Safe with any number of callers at once.
    """
    due = Receipt.objects.filter(look_at__lte=Now()).order_by("look_at")
    if not due.exists():
        return Credited()
    with in_transaction_bounded():
        columns = ("id", "provider", "key", "provider_message_id", "status", "is_old")
        reports = [Report(*row) for row in lock(due.annotate(is_old=_IS_OLD), columns, limit)]
        credited = credit(reports)
        # What is held now may be sent again as soon as it is free: the receipt has to be there before.
        Receipt.objects.filter(pk__in=credited.held_ids).update(look_at=Now() + LOOKS_APART)
        done = credited.receipt_ids | credited.stray_ids | credited.held_ids
        strange = Receipt.objects.filter(pk__in={report.id for report in reports} - done)
        strange.filter(received_at__lt=Now() - WAIT_MOST).delete()
        strange.update(look_at=Now() + _pause())
    return credited


def drop_tokens() -> int:
    """Forget the tokens that are too old to be taken anyway; a bounded batch. Index: `once_token_seen`."""
    old = OnceToken.objects.filter(seen_at__lt=Now() - TOKENS_KEPT).order_by("seen_at")
    with in_transaction_bounded():
        ids = [row[0] for row in lock(old, ("id",), LIMIT)]
        return OnceToken.objects.filter(pk__in=ids).delete()[0] if ids else 0


def _pause() -> Least:
    """A quarter of its age: a few dozen looks until it is dropped."""
    age = ExpressionWrapper((Now() - F("received_at")) / Value(4), output_field=DurationField())
    return Least(Greatest(age, Value(LOOKS_APART)), Value(_LOOKS_APART_MOST))


def _use_up(once: Once) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {OnceToken._meta.db_table} (provider, token, body_hash) VALUES (%s, %s, %s) "  # noqa: S608 (a name from code)
            "ON CONFLICT DO NOTHING",
            [once.provider, once.token, once.body_hash],
        )
        if cursor.rowcount:
            return
    known = OnceToken.objects.filter(provider=once.provider, token=once.token).values_list("body_hash", flat=True)
    if [bytes(body_hash) for body_hash in known] != [once.body_hash]:
        raise TokenUsed("the token was used for another body")


def _insert(receipts: Sequence[Reported]) -> list[Report]:
    """Numbered as they stand in the call, and stored in one order for all, so that two callers with the same reports
    wait for each other and never in a circle."""
    rows = [
        (r.provider, r.event_id, r.key, r.provider_message_id, r.status.value, r.word, r.code, r.text, r.at)
        for r in receipts
    ]
    arrays, names = Arrays(_RECEIPT, rows), ", ".join(_RECEIPT)
    with connection.cursor() as cursor:
        cursor.execute(
            "WITH v AS MATERIALIZED (SELECT nextval(pg_get_serial_sequence(%s, 'id')) AS id, a.* "  # noqa: S608 (names from code, values bound)
            f"FROM {arrays.source('a')}) "
            f"INSERT INTO {Receipt._meta.db_table} (id, {names}, look_at) "
            f"SELECT id, {names}, now() + %s * interval '1 second' FROM v ORDER BY provider, event_id, id "
            "ON CONFLICT DO NOTHING RETURNING id, provider, key, provider_message_id, status",
            [Receipt._meta.db_table, *arrays.parameters(), LOOKS_APART.total_seconds()],
        )
        return [Report(*row) for row in cursor.fetchall()]
