"""A notification in the form of FCM's HTTP v1 interface. Pure.

Source: FCM discovery document (fcm.v1), rev 20261023; Apple, Sending notification requests to APNs; read 2026-11-30.
"""

from __future__ import annotations

from typing import Any

from notifications.device_payload import pairs
from notifications.providers.base import Message

TTL_MAX_SECONDS = 28 * 86_400
_ADDRESSES = {"fcm:": "token", "fcm-fid:": "fid"}


def is_fcm_address(recipient: str) -> bool:
    """A registration token or an installation id."""
    return recipient.startswith(tuple(_ADDRESSES))


def collapse_key(message: Message) -> str:
    """What the device knows copies by: the client's own key, or the notification's id, so that at least our own
    repeats fall together."""
    return message.collapse_key or str(message.id)


def document(message: Message) -> dict[str, Any]:
    """The whole body of the request."""
    prefix, _, address = message.recipient.partition(":")
    shown = {"title": message.subject, "body": message.body} if message.subject else {"body": message.body}
    return {
        "message": {
            _ADDRESSES[f"{prefix}:"]: address,
            "notification": shown,
            "data": pairs(message.data, message.id),
            "android": _android(message),
            "apns": {"headers": _apns_headers(message)},
        }
    }


def _android(message: Message) -> dict[str, Any]:
    """Copies fall together by `tag`: FCM's own `collapse_key` knows only four at a time for each device."""
    options: dict[str, Any] = {
        "priority": "HIGH" if message.urgent else "NORMAL",
        "notification": {"tag": collapse_key(message)},
    }
    if message.ttl_seconds is not None:
        options["ttl"] = f"{min(int(message.ttl_seconds), TTL_MAX_SECONDS)}s"
    return options


def _apns_headers(message: Message) -> dict[str, str]:
    """FCM passes them on for an Apple device that is registered with it."""
    headers = {"apns-collapse-id": collapse_key(message), "apns-priority": "10" if message.urgent else "5"}
    if message.expires_at is not None:
        headers["apns-expiration"] = str(int(message.expires_at.timestamp()))
    return headers
