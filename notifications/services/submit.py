"""Accept notifications."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.conf import settings

from notifications import selectors
from notifications.channel import Channel, Priority
from notifications.errors import InvalidRequest, NotifyError
from notifications.models import Client, Notification
from notifications.request import Checked, CheckedGroup, Defaults, check, check_group
from notifications.services.serving import with_unserved, with_unserved_targets
from notifications.services.store import Stored, Wanted, store


@dataclass(frozen=True, slots=True)
class Submission:
    """The notification, and whether this call created it (False for a repeat of an earlier one)."""

    notification: Notification
    created: bool


@dataclass(frozen=True, slots=True)
class GroupSubmission:
    """The notifications of a group, one for each target in its order, and whether this call created them."""

    group_id: UUID
    notifications: list[Notification]
    created: bool


def submit(
    *,
    client: Client,
    idempotency_key: str | None,
    channel: str | None,
    recipient: str | None,
    body: str | None,
    subject: str | None = None,
    html_body: str | None = None,
    data: Mapping[str, str] | None = None,
    from_name: str | None = None,
    reply_to: str | None = None,
    priority: str | Priority | None = None,
    send_at: datetime | str | None = None,
    delay_seconds: float | None = None,
    expires_at: datetime | str | None = None,
    ttl_seconds: float | None = None,
    max_attempts: int | None = None,
    user_id: str | None = None,
    reference: str | None = None,
    metadata: Mapping[str, str] | None = None,
    collapse_key: str | None = None,
    on_unconfirmed: str | None = None,
    dedupe_by_content: bool | None = None,
) -> Submission:
    """Store one notification, to be delivered once.

    Safe to repeat: the same client, key and details give the notification that is there already, in its present state.
    The values are checked here whatever their type, so a caller may pass on what it was given.

    Args:
        client: whose notification it is; keys of different clients never meet.
        idempotency_key: 1 to 255 printable characters, remembered for as long as the row is kept.
        dedupe_by_content: instead of a key: one is made of user id, channel, recipient and content.
        recipient: a mailbox, a phone number in E.164 form, a device address (`fcm:`, `fcm-fid:`, `apns:`), or, for
            IN_APP, the client's own id of a user.
        send_at, expires_at: aware times, or RFC 3339 text. A past `send_at` means now.
        delay_seconds, ttl_seconds: instead of those; the latter counts from the send time.
        Other fields: see the API's documentation.

    Raises:
        InvalidRequest: with all that is wrong, field by field.
        IdempotencyConflict: the key belongs to a notification with other details.

    Transaction: the caller's where there is one, and then the notification exists if and when that commits; else one
        of its own, committed on return.
    Locks: waits for another open transaction that holds the same key.
    """
    raw = {name: value for name, value in locals().items() if name != "client"}
    [stored] = store(client, [Wanted.one(check_request(raw))], channel_defaults())
    rows = _rows_or_raise(stored)
    return Submission(rows.rows[0], rows.created)


def submit_group(client: Client, raw: Mapping[str, object]) -> GroupSubmission:
    """Store one notification for each of 2 to 10 targets, all or none. Each then lives its own life.

    Safe to repeat: the key belongs to the request, and gives the notifications that are there already.

    Args:
        raw: what `submit` takes, by name, with `targets` (a list of `{channel, recipient}`) in the place of `channel`
            and `recipient`. A field that only some channels have goes to the targets of those channels.

    Raises:
        InvalidRequest: with all that is wrong; what is wrong with a target is called `targets[0].recipient` and so on.
        IdempotencyConflict: the key belongs to another request.

    Transaction, Locks: as for `submit`.
    """
    [stored] = store(client, [Wanted.group(check_group_request(raw))], channel_defaults())
    rows = _rows_or_raise(stored)
    group_id = rows.rows[0].group_id
    assert group_id is not None  # noqa: S101 (the fingerprint of a group is no single notification's)
    return GroupSubmission(group_id, rows.rows, rows.created)


def submit_many(client: Client, requests: Sequence[Mapping[str, object]]) -> list[Submission | NotifyError]:
    """Store many notifications, each with a key of its own, in one transaction.

    Safe to repeat as a whole: what is there already is found again. One that is refused stops no other.

    Args:
        requests: for each what `submit` takes, by name.

    Returns:
        For each, in order, what `submit` would have returned or raised.

    Transaction: one for all, the caller's where there is one. Locks: as for `submit`.
    """
    now, defaults = selectors.database_now(), channel_defaults()
    answers: list[Submission | NotifyError | None] = [None] * len(requests)
    wanted: dict[int, Wanted] = {}
    for number, raw in enumerate(requests):
        try:
            wanted[number] = Wanted.one(with_unserved(check(raw, now=now, defaults=defaults)))
        except InvalidRequest as refused:
            answers[number] = refused
    for number, stored in zip(wanted, store(client, list(wanted.values()), defaults), strict=True):
        answers[number] = Submission(stored.rows[0], stored.created) if isinstance(stored, Stored) else stored
    return [answer for answer in answers if answer is not None]


def check_request(raw: Mapping[str, object]) -> Checked:
    """Check the values of a request, by snake-case name, without storing anything.

    Raises:
        InvalidRequest: with all that is wrong; what is wrong only now stands in the answer.
    """
    return with_unserved(check(raw, now=selectors.database_now(), defaults=channel_defaults()))


def check_group_request(raw: Mapping[str, object]) -> CheckedGroup:
    """The same for a request with targets."""
    return with_unserved_targets(check_group(raw, now=selectors.database_now(), defaults=channel_defaults()))


def channel_defaults() -> dict[Channel, Defaults]:
    """What the settings say of each channel."""
    config = settings.NOTIFYQ
    segments = {Channel.SMS: config.sms_max_segments}
    return {c: Defaults(config.max_attempts[c], config.on_unconfirmed[c], segments.get(c)) for c in Channel}


def _rows_or_raise(stored: Stored | NotifyError) -> Stored:
    if isinstance(stored, NotifyError):
        raise stored
    return stored
