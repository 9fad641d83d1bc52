"""Accept one notification."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings

from notifications import queue, selectors
from notifications.channel import Channel, Priority
from notifications.errors import IdempotencyConflict, InvalidRequest
from notifications.models import Client, Content, Notification
from notifications.request import Checked, Defaults, NotificationRequest, Schedule, check, fingerprint
from notifications.status import Status, WaitingReason

_TRIES = 3


@dataclass(frozen=True, slots=True)
class Submission:
    """The notification, and whether this call created it (False for a repeat of an earlier one)."""

    notification: Notification
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
) -> Submission:
    """Store one notification, to be delivered once.

    Safe to repeat: the same client, key and details give the notification that is there already, in its present state.
    The values are checked here whatever their type, so a caller may pass on what it was given.

    Args:
        client: whose notification it is; keys of different clients never meet.
        idempotency_key: 1 to 255 printable characters, remembered for as long as the row is kept.
        recipient: a mailbox, a phone number in E.164 form, or a device address (`fcm:`, `fcm-fid:`, `apns:`).
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
    checked = check_request(raw)
    if checked.clock_errors:
        return _repeat_or_refuse(client, checked)
    return _store_or_repeat(client, checked)


def check_request(raw: Mapping[str, object]) -> Checked:
    """Check the values of a request, by snake-case name, without storing anything.

    Raises:
        InvalidRequest: with all that is wrong; what is wrong only because of the time stands in the answer.
    """
    return check(raw, now=selectors.database_now(), defaults=channel_defaults())


def channel_defaults() -> dict[Channel, Defaults]:
    """What each channel does when a request does not say, from the settings."""
    config = settings.NOTIFYQ
    return {c: Defaults(config.max_attempts[c], config.on_unconfirmed[c]) for c in Channel}


def _store_or_repeat(client: Client, checked: Checked) -> Submission:
    """Insert first and let the unique constraint decide: to look first would let two at once both find nothing."""
    for _ in range(_TRIES):
        notification, content = build(client, checked.request, checked.schedule)
        if queue.insert([(notification, content)]):
            return Submission(notification, created=True)
        earlier = selectors.by_idempotency_key(client, checked.request.idempotency_key)
        if earlier is not None:
            return _repeat(earlier, checked.request)
        # Purged between the two statements: the key is free again.
    raise IdempotencyConflict("the idempotency key is held by a notification that cannot be read")


def _repeat_or_refuse(client: Client, checked: Checked) -> Submission:
    """Its times have passed: right for a repeat of an old request, wrong for a new one."""
    earlier = selectors.by_idempotency_key(client, checked.request.idempotency_key)
    if earlier is None:
        raise InvalidRequest(checked.clock_errors)
    return _repeat(earlier, checked.request)


def _repeat(earlier: Notification, request: NotificationRequest) -> Submission:
    if bytes(earlier.fingerprint) != fingerprint(request):
        raise IdempotencyConflict("the idempotency key was used before with other details")
    return Submission(earlier, created=False)


def build(client: Client, request: NotificationRequest, schedule: Schedule) -> tuple[Notification, Content]:
    """The unsaved rows of a request."""
    defaults = channel_defaults()[request.channel]
    later = schedule.send_at > schedule.now
    notification = Notification(
        client=client,
        idempotency_key=request.idempotency_key,
        fingerprint=fingerprint(request),
        status=Status.PENDING,
        waiting_reason=WaitingReason.SCHEDULED if later else "",
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
