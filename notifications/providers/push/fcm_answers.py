"""What FCM's answers mean. Only its typed codes count; its texts are shown. Pure.

Source: Firebase, FCM v1 ErrorCode, and the sample answers of "REST error codes for the HTTP v1 API", read 2026-11-30.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from notifications.providers.http import Answer, proof, status_verdict
from notifications.providers.push import devices
from notifications.verdict import Verdict

QUOTA_SECONDS = 60.0
"""How long to wait after a 429 that does not say so: a project's quota is filled up again each minute.
Source: Firebase, Best practices when sending FCM messages at scale, read 2026-11-30."""

_NAME = re.compile(r"projects/[^/]+/messages/[^/]+")
_FCM_ERROR = "type.googleapis.com/google.firebase.fcm.v1.FcmError"
_BAD_REQUEST = "type.googleapis.com/google.rpc.BadRequest"
_ADDRESS_FIELDS = frozenset({"message.token", "message.fid"})
_TEXT = {
    devices.UNREGISTERED: "the app is no longer registered under this device address",
    devices.INVALID: "the device address is none",
    devices.FOREIGN: "the device address belongs to another sender than this project",
    "invalid_argument": "FCM refuses the content of the message",
    "third_party_auth_error": "FCM's own credentials for APNs or web push are missing or wrong",
    "unavailable": "FCM is overloaded; it may have sent it",
    "internal": "FCM failed; it may have sent it",
}


def verdict_of(answer: Answer) -> Verdict:
    """Its verdict; proof of acceptance is the message's name."""
    name = proof(answer.fields().get("name"))
    if answer.status == 200 and _NAME.fullmatch(name):
        return Verdict.accepted(name)
    return _typed(answer) or status_verdict(answer)


def _typed(answer: Answer) -> Verdict | None:
    """By the code of FCM, each with the status that belongs to it; a code under another status proves nothing."""
    wait = answer.retry_after_seconds
    match answer.status, _code(answer):
        case 404, "UNREGISTERED":
            return _rejected(devices.UNREGISTERED)
        case 403, "SENDER_ID_MISMATCH":
            return _rejected(devices.FOREIGN)
        case 400, "INVALID_ARGUMENT":
            if _is_about_address(answer):
                return _rejected(devices.INVALID)
            return Verdict.rejected("invalid_argument", answer.telling(_TEXT["invalid_argument"]))
        case 401, "THIRD_PARTY_AUTH_ERROR":
            return Verdict.provider_fault("third_party_auth_error", answer.telling(_TEXT["third_party_auth_error"]))
        case 429, "QUOTA_EXCEEDED":
            text = answer.telling("FCM's quota for this project or device is used up")
            wait = QUOTA_SECONDS if wait is None else wait
            return Verdict.temporary("quota_exceeded", text, retry_after_seconds=wait, throttled=True)
        case 503, "UNAVAILABLE":
            return Verdict.unconfirmed("unavailable", _TEXT["unavailable"], retry_after_seconds=wait)
        case 500, "INTERNAL":
            return Verdict.unconfirmed("internal", _TEXT["internal"], retry_after_seconds=wait)
    return None


def _rejected(code: str) -> Verdict:
    return Verdict.rejected(code, _TEXT[code])


def _code(answer: Answer) -> str:
    """FCM's own code; for a refused argument also the general one, which sometimes comes alone."""
    for detail in _details(answer, _FCM_ERROR):
        if isinstance(code := detail.get("errorCode"), str):
            return code
    status = _error(answer).get("status")
    return status if isinstance(status, str) and status in ("INVALID_ARGUMENT", "UNAVAILABLE", "INTERNAL") else ""


def _is_about_address(answer: Answer) -> bool:
    """Whether FCM names the address as what is wrong. Without that it may be anything, and no address is given up."""
    named = [violation.get("field") for detail in _details(answer, _BAD_REQUEST) for violation in _violations(detail)]
    return any(isinstance(field, str) and field in _ADDRESS_FIELDS for field in named)


def _violations(detail: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    listed = detail.get("fieldViolations")
    yield from (v for v in listed if isinstance(v, dict)) if isinstance(listed, list) else ()


def _details(answer: Answer, kind: str) -> Iterator[Mapping[str, Any]]:
    listed = _error(answer).get("details")
    yield from (d for d in listed if isinstance(d, dict) and d.get("@type") == kind) if isinstance(listed, list) else ()


def _error(answer: Answer) -> Mapping[str, Any]:
    error = answer.fields().get("error")
    return error if isinstance(error, dict) else {}
