"""What APNs' answers mean, reason by reason. Pure.

Source: Apple, Handling notification responses from APNs, read 2026-11-30.
"""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

from notifications.providers.http import Answer, proof, status_verdict
from notifications.providers.push import devices
from notifications.verdict import Verdict

EXPIRED_TOKEN = "ExpiredProviderToken"  # noqa: S105 (the reason's name)

_REJECTED: dict[tuple[int, str], tuple[str, str]] = {
    (400, "BadDeviceToken"): (devices.INVALID, "the device token is none, or of the other environment"),
    (400, "MissingDeviceToken"): (devices.INVALID, "the device token is missing"),
    (400, "DeviceTokenNotForTopic"): (devices.FOREIGN, "the device token is one of another app than the topic"),
    (410, "Unregistered"): (devices.UNREGISTERED, "the app is no longer registered under this device token"),
    (410, "ExpiredToken"): (devices.EXPIRED, "the device token has expired"),
    (400, "BadCollapseId"): ("bad_collapse_key", "APNs refuses the collapse key"),
    (400, "BadExpirationDate"): ("bad_expiration", "APNs refuses the time to live"),
    (400, "PayloadEmpty"): ("payload_empty", "APNs refuses an empty payload"),
    (413, "PayloadTooLarge"): ("payload_too_large", "APNs refuses the payload for its size"),
    (400, "BadMessageId"): ("bad_message_id", "APNs refuses the message's id"),
    (400, "BadPriority"): ("bad_priority", "APNs refuses the priority"),
    (400, "DuplicateHeaders"): ("duplicate_headers", "APNs refuses repeated headers"),
    (400, "InvalidPushType"): ("invalid_push_type", "APNs refuses the type of push"),
}
_ACCOUNT: dict[tuple[int, str], tuple[str, str]] = {
    (400, "BadTopic"): ("bad_topic", "APNs does not know the topic"),
    (400, "MissingTopic"): ("missing_topic", "APNs misses the topic"),
    (400, "TopicDisallowed"): ("topic_disallowed", "the key may not send for the topic"),
    (403, "BadCertificate"): ("bad_certificate", "APNs refuses the certificate"),
    (403, "BadCertificateEnvironment"): ("bad_certificate_environment", "the certificate is of the other environment"),
    (403, "BadEnvironmentKeyIdInToken"): ("bad_key_environment", "the key is of the other environment"),
    (403, EXPIRED_TOKEN): ("provider_token_expired", "APNs finds a new token too old: is the machine's clock right?"),
    (403, "Forbidden"): ("forbidden", "APNs does not allow it"),
    (403, "InvalidProviderToken"): ("provider_token_invalid", "APNs refuses the token: is it the right key and team?"),
    (403, "MissingProviderToken"): ("provider_token_missing", "APNs misses the token"),
    (403, "UnrelatedKeyIdInToken"): ("provider_key_unrelated", "the key is of another team or topic"),
    (404, "BadPath"): ("bad_path", "the configured address is not that of APNs"),
    (405, "MethodNotAllowed"): ("method_not_allowed", "the configured address is not that of APNs"),
}
_LATER: dict[tuple[int, str], tuple[str, str]] = {
    (400, "IdleTimeout"): ("idle_timeout", "APNs gave up the connection"),
    (429, "TooManyProviderTokenUpdates"): ("too_many_token_updates", "APNs gets new tokens too often"),
    (429, "TooManyRequests"): ("throttled", "APNs gets too much for this device"),
    (503, "ServiceUnavailable"): ("unavailable", "APNs is not available"),
    (503, "Shutdown"): ("shutdown", "the APNs server is shutting down"),
}


def verdict_of(answer: Answer, identity: UUID) -> Verdict:
    """Its verdict; proof of acceptance is that our id comes back."""
    if answer.status == 200:
        echoed = proof(answer.headers.get("apns-id"))
        return Verdict.accepted(echoed) if _is(echoed, identity) else status_verdict(answer)
    key = answer.status, reason_of(answer)
    if key in _REJECTED:
        code, text = _REJECTED[key]
        return Verdict.rejected(code, text + _since(answer))
    if key in _ACCOUNT:
        return Verdict.provider_fault(*_ACCOUNT[key])
    if key in _LATER:
        wait, throttled = answer.retry_after_seconds, answer.status == 429
        return Verdict.temporary(*_LATER[key], retry_after_seconds=wait, throttled=throttled)
    if key == (500, "InternalServerError"):
        return Verdict.unconfirmed("internal", "APNs failed; it may have sent it")
    return status_verdict(answer)


def reason_of(answer: Answer) -> str:
    reason = answer.fields().get("reason")
    return reason if isinstance(reason, str) else ""


def _since(answer: Answer) -> str:
    """Since when an address is of no use: whoever has registered it again after that must not forget it."""
    moment = answer.fields().get("timestamp")
    if answer.status != 410 or isinstance(moment, bool) or not isinstance(moment, int | float):
        return ""
    try:
        return f", since {datetime.fromtimestamp(moment / 1000, UTC):%Y-%m-%dT%H:%M:%SZ}"
    except (ValueError, OverflowError, OSError):
        return ""


def _is(text: str, identity: UUID) -> bool:
    try:
        return UUID(text) == identity
    except ValueError:
        return False
