"""What is said, field by field and channel by channel."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from notifications import device_payload, sms_segments
from notifications.channel import Channel
from notifications.errors import FieldError
from notifications.request.fields import LABEL_MAX_LENGTH, Fields, Invalid
from notifications.request.recipients import canonical_email

BODY_MAX_BYTES = 65_536
HTML_MAX_BYTES = 262_144
SMS_MAX_LENGTH = 1_600
INBOX_DATA_MAX_BYTES = 16_384
METADATA_MAX_PAIRS = 20
METADATA_MAX_BYTES = 2_048
COLLAPSE_KEY_MAX_LENGTH = 64

CHANNELS_OF_FIELD: dict[str, frozenset[Channel]] = {
    "subject": frozenset({Channel.EMAIL, Channel.PUSH, Channel.IN_APP}),
    "html_body": frozenset({Channel.EMAIL}),
    "from_name": frozenset({Channel.EMAIL}),
    "reply_to": frozenset({Channel.EMAIL}),
    "data": frozenset({Channel.PUSH, Channel.IN_APP}),
    "collapse_key": frozenset({Channel.PUSH, Channel.IN_APP}),
}
"""The fields that only some channels have; all others belong to every channel."""


@dataclass(frozen=True, slots=True)
class ContentOfRequest:
    """The checked content; text is empty when absent. Its `repr` shows none of it."""

    subject: str = field(default="", repr=False)
    body: str = field(default="", repr=False)
    html_body: str = field(default="", repr=False)
    from_name: str = field(default="", repr=False)
    reply_to: str = field(default="", repr=False)
    collapse_key: str = field(default="", repr=False)
    data: dict[str, str] = field(default_factory=dict, repr=False)


def read_content(fields: Fields, channel: Channel | None) -> ContentOfRequest:
    """Read every field of the content. With an unknown channel, only what holds for all of them is checked."""
    _refuse_foreign(fields, channel)
    content = ContentOfRequest(
        subject=fields.text("subject", max_length=LABEL_MAX_LENGTH, required=channel is Channel.EMAIL, one_line=True)
        or "",
        body=_read_body(fields, channel),
        html_body=fields.text("html_body", max_bytes=HTML_MAX_BYTES) or "",
        from_name=fields.text("from_name", max_length=LABEL_MAX_LENGTH, one_line=True) or "",
        reply_to=_read_reply_to(fields),
        collapse_key=_read_collapse_key(fields),
        data=fields.pairs("data") or {},
    )
    if channel is Channel.PUSH and not fields.has_error("subject", "body", "data"):
        _check_payload(fields, content)
    if channel is Channel.IN_APP and (size := _size_bytes(content.data)) > INBOX_DATA_MAX_BYTES:
        fields.wrong("data", "too_long", f"must be at most {INBOX_DATA_MAX_BYTES} bytes of JSON, not {size}")
    return content


def read_metadata(fields: Fields) -> dict[str, str]:
    """The client's own labels: at most 20 string pairs, 2 KiB of JSON in all."""
    pairs = fields.pairs("metadata") or {}
    if len(pairs) > METADATA_MAX_PAIRS:
        fields.wrong("metadata", "too_many", f"must have at most {METADATA_MAX_PAIRS} pairs, not {len(pairs)}")
    elif (size := _size_bytes(pairs)) > METADATA_MAX_BYTES:
        fields.wrong("metadata", "too_long", f"must be at most {METADATA_MAX_BYTES} bytes of JSON, not {size}")
    return pairs


def check_segments(content: ContentOfRequest, most: int | None) -> list[FieldError]:
    """What is wrong with a text message that takes more segments than the operator pays for.

    Args:
        most: None where there is no limit.
    """
    if most is None or (segments := sms_segments.count(content.body)).count <= most:
        return []
    size = f"{segments.count} of {segments.per_segment} characters each ({segments.encoding})"
    return [FieldError("body", "too_many_segments", f"must take at most {most} segments of a text message, not {size}")]


def _refuse_foreign(fields: Fields, channel: Channel | None) -> None:
    """A field that the channel does not have would be ignored in silence, so it is refused."""
    if channel is None:
        return
    for name, channels in CHANNELS_OF_FIELD.items():
        if fields.given(name) and channel not in channels:
            where = " and ".join(sorted(channels))
            fields.wrong(name, "not_for_channel", f"is only for {where}, not for {channel}")


def _read_body(fields: Fields, channel: Channel | None) -> str:
    longest = SMS_MAX_LENGTH if channel is Channel.SMS else None
    return fields.text("body", max_length=longest, max_bytes=BODY_MAX_BYTES, required=True) or ""


def _read_reply_to(fields: Fields) -> str:
    text = fields.text("reply_to", one_line=True)
    if text is None:
        return ""
    try:
        return canonical_email(text.strip(" "))
    except Invalid as problem:
        fields.wrong("reply_to", problem.code, problem.message)
        return ""


def _read_collapse_key(fields: Fields) -> str:
    """Printable ASCII, since it travels in an HTTP header."""
    text = fields.text("collapse_key", max_length=COLLAPSE_KEY_MAX_LENGTH)
    if text is not None and not (text.isascii() and text.isprintable()):
        fields.wrong("collapse_key", "not_printable", "must consist of printable ASCII characters")
    return text or ""


def _check_payload(fields: Fields, content: ContentOfRequest) -> None:
    """What a device is handed, as it will go out. Of what is too long, the longest part is named."""
    if device_payload.taken_keys(content.data):
        fields.wrong("data", "reserved_name", f"must not have a name that is in use: {device_payload.TAKEN_NAMES}")
    size = device_payload.size_bytes(content.subject, content.body, content.data)
    if size > device_payload.MAX_BYTES:
        parts = {name: _size_bytes(getattr(content, name)) for name in ("body", "data", "subject")}
        message = f"must, with all that a device is handed, be at most {device_payload.MAX_BYTES} bytes of JSON"
        fields.wrong(max(parts, key=lambda name: parts[name]), "too_long", f"{message}, not {size}")


def _size_bytes(value: object) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())
