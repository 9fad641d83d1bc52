"""What adapters that can be asked have in common: when "no such message" is believed, and what trouble means. Pure."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from notifications.providers.base import Lookup
from notifications.providers.http import Answer
from notifications.verdict import Finding, Verdict

ASKED_AGAIN_LEAST_SECONDS = 30.0


def cannot_say(trouble: Answer | Verdict) -> Finding:
    """UNKNOWN, for trouble on the way or for an answer that does not say what was asked."""
    if isinstance(trouble, Verdict):
        return Finding.unknown(
            trouble.error_code, trouble.error_message, retry_after_seconds=trouble.retry_after_seconds
        )
    if trouble.status == 200:
        return Finding.unknown("unclear_answer", "the answer to the look-up is not of the documented form")
    return Finding.unknown(
        f"http_{trouble.status}",
        trouble.telling(f"answered {trouble.status} to the look-up"),
        retry_after_seconds=trouble.retry_after_seconds,
    )


def absent(answer: Answer, lookup: Lookup, *, since: datetime, believed_after_seconds: float) -> Finding:
    """ABSENT where the vendor's records can be complete, and are not yet forgotten; else UNKNOWN.

    Args:
        answer: in which the vendor named no such message. The vendor's own clock counts where the answer shows it.
        since: as in `Provider.look_up`.
        believed_after_seconds: how long a message may take to appear in the records.

    Returns:
        One that is UNKNOWN because it is too early says when to ask again.
    """
    age_seconds = (_answered_at(answer) - since).total_seconds()
    if age_seconds < believed_after_seconds:
        return Finding.unknown(
            "not_listed_yet",
            "not in the vendor's records, which may be behind",
            retry_after_seconds=_pause_seconds(age_seconds, believed_after_seconds),
        )
    if age_seconds > lookup.horizon_seconds:
        return Finding.unknown("no_longer_listed", "not in the vendor's records, which go back less far")
    return Finding.absent()


def _pause_seconds(age_seconds: float, believed_after_seconds: float) -> float:
    """Asked again at twice the age, and then when an absence is believed: half a dozen questions an hour, not sixty."""
    return max(ASKED_AGAIN_LEAST_SECONDS, min(age_seconds, believed_after_seconds - age_seconds))


def _answered_at(answer: Answer) -> datetime:
    try:
        moment = parsedate_to_datetime(answer.headers.get("date", ""))
    except (ValueError, TypeError, OverflowError, IndexError):
        return datetime.now(UTC)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
