"""The rules for what clients ask of webhooks. Pure, no database.

As everywhere in the API, null means absent, and everything that is wrong is told at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from notifications.errors import InvalidRequest
from notifications.request import parse_instant
from notifications.request.fields import Fields, Invalid
from notifications.status import FINAL as FINAL_OUTCOMES
from notifications.status import Status
from webhooks.egress import Refused, check_url
from webhooks.status import FINAL, EventStatus

DEFAULT_EVENTS = (Status.SENT, Status.FAILED, Status.DEAD_LETTERED)
DESCRIPTION_MAX_LENGTH = 255


@dataclass(frozen=True, slots=True)
class EndpointRequest:
    """What was given of an endpoint; None is absent."""

    url: str | None
    description: str | None
    events: tuple[Status, ...] | None
    enabled: bool | None


@dataclass(frozen=True, slots=True)
class ReplayRequest:
    """Which events to send again."""

    since: datetime
    until: datetime
    statuses: tuple[EventStatus, ...]


def check_endpoint(raw: Mapping[str, Any], *, allow_private: bool, complete: bool) -> EndpointRequest:
    """Check the fields of an endpoint.

    Args:
        raw: `url, description, events, enabled`, each of whatever type.
        complete: for a new one, which needs a URL.

    Raises:
        InvalidRequest: with all that is wrong.
    """
    fields = Fields(raw)
    request = EndpointRequest(
        url=_url(fields, required=complete, allow_private=allow_private),
        description=_description(fields),
        events=_events(fields),
        enabled=_enabled(fields),
    )
    if fields.errors:
        raise InvalidRequest(fields.errors)
    return request


def check_replay(raw: Mapping[str, Any], *, now: datetime) -> ReplayRequest:
    """Check a range: `since` is required, `until` is now when absent.

    Raises:
        InvalidRequest: with all that is wrong.
    """
    fields = Fields(raw)
    since, until = _instant(fields, "since"), _instant(fields, "until")
    if not fields.given("since"):
        fields.wrong("since", "required", "is required")
    if since and until and until <= since:
        fields.wrong("until", "out_of_range", "must be after since")
    statuses = _names(fields, "status", sorted(FINAL))
    if fields.errors:
        raise InvalidRequest(fields.errors)
    wanted = tuple(EventStatus(name) for name in statuses or sorted(FINAL))
    return ReplayRequest(since or datetime.min.replace(tzinfo=UTC), until or now, wanted)


def _url(fields: Fields, *, required: bool, allow_private: bool) -> str | None:
    given = fields.raw("url") is not None
    url = fields.text("url", required=required or given)
    if url is None:
        return None
    try:
        check_url(url, allow_private=allow_private)
    except Refused as problem:
        fields.wrong("url", problem.code, problem.message)
    return url


def _description(fields: Fields) -> str | None:
    text = fields.text("description", max_length=DESCRIPTION_MAX_LENGTH, one_line=True)
    return "" if fields.raw("description") == "" else text


def _events(fields: Fields) -> tuple[Status, ...] | None:
    names = _names(fields, "events", sorted(FINAL_OUTCOMES))
    return None if names is None else tuple(Status(name) for name in names)


def _enabled(fields: Fields) -> bool | None:
    value = fields.raw("enabled")
    if value is not None and not isinstance(value, bool):
        fields.wrong("enabled", "not_a_boolean", "must be true or false")
        return None
    return value


def _names(fields: Fields, name: str, options: list[str]) -> list[str] | None:
    """A list of at least one of the options, each kept once."""
    value = fields.raw(name)
    if value is None:
        return None
    wrong = not isinstance(value, list) or not value or not all(isinstance(v, str) and v in options for v in value)
    if wrong:
        fields.wrong(name, "not_an_option", f"must be a list of at least one of {', '.join(options)}")
        return None
    return list(dict.fromkeys(value))  # type: ignore[call-overload]


def _instant(fields: Fields, name: str) -> datetime | None:
    if not fields.given(name):
        return None
    try:
        return parse_instant(fields.raw(name))
    except Invalid as problem:
        fields.wrong(name, problem.code, problem.message)
        return None
