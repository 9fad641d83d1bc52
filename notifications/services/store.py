"""Store checked requests, or find what is there already under their keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from django.db import transaction

from notifications import queue, selectors
from notifications.channel import Channel
from notifications.errors import FieldError, IdempotencyConflict, InvalidRequest, NotifyError
from notifications.models import Client, Content, Notification
from notifications.request import (
    Checked,
    CheckedGroup,
    Defaults,
    NotificationRequest,
    Schedule,
    fingerprint,
    group_fingerprint,
)
from notifications.status import Status, WaitingReason
from notifyq.runtime.ids import uuid7

_TRIES = 3

Rows = Sequence[tuple[Notification, Content]]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What one key asks for: one notification, or one for each target of a group."""

    key: str
    fingerprint: bytes
    requests: tuple[NotificationRequest, ...]
    schedule: Schedule
    present_errors: tuple[FieldError, ...]
    group_id: UUID | None = None

    @classmethod
    def one(cls, checked: Checked) -> Wanted:
        request = checked.request
        return cls(request.idempotency_key, fingerprint(request), (request,), checked.schedule, checked.present_errors)

    @classmethod
    def group(cls, checked: CheckedGroup) -> Wanted:
        requests, errors = checked.requests, checked.present_errors
        return cls(checked.key, group_fingerprint(requests), requests, checked.schedule, errors, uuid7())


@dataclass(frozen=True, slots=True)
class Stored:
    """The notifications of one key, and whether this call created them."""

    rows: list[Notification] = field(repr=False)
    created: bool


def store(client: Client, wanted: Sequence[Wanted], defaults: Mapping[Channel, Defaults]) -> list[Stored | NotifyError]:
    """Store what is new, all of it in one transaction.

    Insert first and let the unique constraint decide: to look first would let two at once both find nothing.

    Returns:
        For each, in order: what is stored under its key, or `IdempotencyConflict`, or `InvalidRequest` for a new one
        whose times have passed or whose address nobody serves. Of several with one key, the later ones are repeats of
        the first.

    Transaction: the caller's, or one of its own.
    Locks: waits for other open transactions that hold one of the keys. The keys go in sorted, so that two calls with
    the same keys in different orders do not wait for each other in a circle.
    """
    first: dict[str, int] = {}
    for number, each in enumerate(wanted):
        if not each.present_errors:
            first.setdefault(each.key, number)
    # In the order of the request, so that the ids are too.
    built = {key: _build(client, wanted[number], defaults) for key, number in first.items()}
    with transaction.atomic():
        new, earlier = _insert_or_find(client, built, {each.key for each in wanted})
    created = {key: [row for row, _ in built[key]] for key in new}
    return [_answer(n, each, wanted, first, created, earlier) for n, each in enumerate(wanted)]


def _insert_or_find(
    client: Client, built: Mapping[str, Rows], keys: set[str]
) -> tuple[set[str], dict[str, list[Notification]]]:
    new: set[str] = set()
    earlier: dict[str, list[Notification]] = {}
    left = dict(built)
    for _ in range(_TRIES):
        new |= _insert(left)
        earlier |= selectors.by_idempotency_keys(client, keys - new - earlier.keys())
        left = {key: rows for key, rows in left.items() if key not in new and key not in earlier}
        if not left:
            break
        # Purged between the two statements: those keys are free again.
    return new, earlier


def _insert(built: Mapping[str, Rows]) -> set[str]:
    """The keys under which all was new and is stored now."""
    if not built:
        return set()
    with transaction.atomic():
        stored = queue.insert([pair for key in sorted(built) for pair in built[key]])
        ours = {key: [row.pk in stored for row, _ in rows] for key, rows in built.items()}
        if any(any(each) and not all(each) for each in ours.values()):
            # Of a group some rows are there already and others not: then none may be added.
            transaction.set_rollback(True)
            return set()
    return {key for key, each in ours.items() if all(each)}


def _answer(
    number: int,
    each: Wanted,
    wanted: Sequence[Wanted],
    first: Mapping[str, int],
    created: Mapping[str, list[Notification]],
    earlier: Mapping[str, list[Notification]],
) -> Stored | NotifyError:
    if each.key in created and first[each.key] <= number:
        if first[each.key] == number:
            return Stored(created[each.key], created=True)
        return _repeat(created[each.key], wanted[first[each.key]].fingerprint, each)
    if rows := earlier.get(each.key):
        return _repeat(rows, bytes(rows[0].fingerprint), each)
    if each.present_errors:
        return InvalidRequest(each.present_errors)
    return IdempotencyConflict("the idempotency key is held by a notification that cannot be read")


def _repeat(rows: list[Notification], stored_fingerprint: bytes, each: Wanted) -> Stored | NotifyError:
    if stored_fingerprint != each.fingerprint:
        return IdempotencyConflict("the idempotency key was used before with other details")
    return Stored(rows, created=False)


def _build(client: Client, wanted: Wanted, defaults: Mapping[Channel, Defaults]) -> Rows:
    return [_pair(client, wanted, index, defaults[r.channel]) for index, r in enumerate(wanted.requests)]


def _pair(client: Client, wanted: Wanted, index: int, defaults: Defaults) -> tuple[Notification, Content]:
    """The unsaved rows of one target."""
    request, schedule = wanted.requests[index], wanted.schedule
    notification = Notification(
        client=client,
        idempotency_key=wanted.key,
        target_index=index,
        group_id=wanted.group_id,
        fingerprint=wanted.fingerprint,
        status=Status.PENDING,
        waiting_reason=WaitingReason.SCHEDULED if schedule.send_at > schedule.now else "",
        channel=request.channel,
        recipient=request.recipient,
        priority=request.priority,
        send_at=schedule.send_at,
        due_at=schedule.send_at,
        expires_at=schedule.expires_at,
        max_attempts=request.max_attempts or defaults.max_attempts,
        on_unconfirmed=request.on_unconfirmed or defaults.on_unconfirmed,
        user_id=request.user_id,
        reference=request.reference,
        # Set here and not by the database, so that the row need not be read again to answer.
        created_at=schedule.now,
        updated_at=schedule.now,
        attempt_count=0,
    )
    content = request.content
    return notification, Content(
        notification=notification,
        subject=content.subject,
        body=content.body,
        html_body=content.html_body,
        from_name=content.from_name,
        reply_to=content.reply_to,
        collapse_key=content.collapse_key,
        data=content.data,
        metadata=request.metadata,
    )
