"""Check one request from end to end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from notifications.channel import Channel, OnUnconfirmed, Priority
from notifications.errors import FieldError, InvalidRequest
from notifications.request.canonical import content_key
from notifications.request.content import ContentOfRequest, check_segments, read_content, read_metadata
from notifications.request.fields import LABEL_MAX_LENGTH, Fields, Invalid, storable
from notifications.request.recipients import canonical_recipient
from notifications.request.times import Schedule, Timing, read_timing, resolve

KEY_MAX_LENGTH = 255
ATTEMPTS_MOST = 20


@dataclass(frozen=True, slots=True)
class Defaults:
    """What the settings say of a channel: what it does when the request does not say, and how much it takes.

    Attributes:
        max_segments: most segments of a text message; None for no limit.
    """

    max_attempts: int
    on_unconfirmed: OnUnconfirmed
    max_segments: int | None = None


@dataclass(frozen=True, slots=True)
class NotificationRequest:
    """One request in canonical form.

    Attributes:
        timing: as given, so that the same request means the same at any time; see `Checked.schedule`.
        max_attempts, on_unconfirmed: None for the channel's default, also when it was asked for by its value.
    """

    idempotency_key: str
    channel: Channel
    recipient: str = field(repr=False)
    content: ContentOfRequest = field(repr=False)
    priority: Priority
    timing: Timing
    max_attempts: int | None
    on_unconfirmed: OnUnconfirmed | None
    user_id: str = field(repr=False)
    reference: str
    metadata: dict[str, str] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Checked:
    """A well-formed request, what its times come to, and what is wrong with it only at present: by what time it is,
    or by today's settings.

    A repeat of a stored request is answered from its row even when that has changed since, so these last errors are
    kept apart.
    """

    request: NotificationRequest
    schedule: Schedule
    present_errors: tuple[FieldError, ...]


def check(raw: Mapping[str, object], *, now: datetime, defaults: Mapping[Channel, Defaults]) -> Checked:
    """Check every field of a request.

    Args:
        raw: values by snake-case name; None means absent. Names that are not read here are the caller's to refuse.
        now: aware; the database's time.

    Raises:
        InvalidRequest: with every error found, those of the present included.
    """
    fields = Fields(raw)
    channel = _read_channel(fields)
    recipient = _read_recipient(fields, channel)
    content, timing = read_content(fields, channel), read_timing(fields)
    request = NotificationRequest(
        idempotency_key=_read_key(fields),
        channel=channel or Channel.EMAIL,  # only a stand-in: without a channel the request is refused below
        recipient=recipient,
        content=content,
        priority=Priority[fields.option("priority", Priority.__members__) or Priority.NORMAL.name],
        timing=timing,
        max_attempts=fields.whole("max_attempts", least=1, most=ATTEMPTS_MOST),
        on_unconfirmed=_read_on_unconfirmed(fields),
        user_id=fields.text("user_id", max_length=LABEL_MAX_LENGTH) or "",
        reference=fields.text("reference", max_length=LABEL_MAX_LENGTH) or "",
        metadata=read_metadata(fields),
    )
    schedule, clock_errors = resolve(timing, now)
    present_errors = [*clock_errors, *check_segments(content, defaults[channel].max_segments if channel else None)]
    if fields.errors:
        named = {e.field for e in fields.errors}
        raise InvalidRequest([*fields.errors, *(e for e in present_errors if e.field not in named)])
    if not request.idempotency_key:
        request = replace(request, idempotency_key=content_key([request]))
    return Checked(_without_defaults(request, defaults[request.channel]), schedule, tuple(present_errors))


def _read_channel(fields: Fields) -> Channel | None:
    name = fields.option("channel", Channel.__members__, required=True)
    return None if name is None else Channel[name]


def _read_recipient(fields: Fields, channel: Channel | None) -> str:
    if not fields.given("recipient"):
        fields.wrong("recipient", "required", "is required")
        return ""
    try:
        value = storable(fields.raw("recipient"))
        return value if channel is None else canonical_recipient(channel, value)
    except Invalid as problem:
        fields.wrong("recipient", problem.code, problem.message)
        return ""


def _read_key(fields: Fields) -> str:
    """Empty when it is to be made of the content."""
    if fields.flag("dedupe_by_content"):
        if fields.given("idempotency_key"):
            fields.wrong("idempotency_key", "conflict", "must not be given together with dedupeByContent")
            fields.wrong("dedupe_by_content", "conflict", "must not be given together with idempotencyKey")
        return ""
    key = fields.text("idempotency_key", max_length=KEY_MAX_LENGTH, required=True)
    if key is not None and not key.isprintable():
        fields.wrong("idempotency_key", "not_printable", "must consist of printable characters")
    return key or ""


def _read_on_unconfirmed(fields: Fields) -> OnUnconfirmed | None:
    name = fields.option("on_unconfirmed", OnUnconfirmed.__members__)
    return None if name is None else OnUnconfirmed[name]


def _without_defaults(request: NotificationRequest, defaults: Defaults) -> NotificationRequest:
    return replace(
        request,
        max_attempts=None if request.max_attempts == defaults.max_attempts else request.max_attempts,
        on_unconfirmed=None if request.on_unconfirmed == defaults.on_unconfirmed else request.on_unconfirmed,
    )
