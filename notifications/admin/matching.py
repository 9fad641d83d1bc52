"""From the list of notifications to the acts on everything that matches its filter."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode

from django.http import QueryDict
from django.urls import reverse

from notifications.status import Status

_NAMES = {
    "status": "status",
    "channel__exact": "channel",
    "client__id__exact": "client",
    "provider": "provider",
    "error_code": "error_code",
    "reference": "reference",
}
"""What the list calls what both can filter by, and what the page for acts on many calls it."""
_PLACES = ("p", "all")
"""Where in the list somebody is."""
_ACTS: Mapping[str, tuple[str, str]] = {
    "": ("", "Act on everything that matches…"),
    Status.PENDING: ("cancel", "Cancel or reschedule everything that matches…"),
    Status.FAILED: ("retry", "Retry everything that matches…"),
    Status.DEAD_LETTERED: ("retry", "Retry everything that matches…"),
}


_WAITING = "waiting_reason"


def instead_of_waiting(query: QueryDict) -> str:
    """The address of the preview without the reason of waiting; empty where none is given, or that would not help.

    A reason is no filter of an act on many: that a provider is unavailable stands in no row, it is worked out when the
    list is shown, and the workers, who find the rows later, would act on others than those that were looked at.
    """
    without = query.copy()
    without.pop(_WAITING, None)
    if not query.get(_WAITING) or without.get("status", Status.PENDING) != Status.PENDING:
        return ""
    without["status"] = Status.PENDING.value  # nothing else waits
    return bulk_link(without)[1]


def bulk_link(query: QueryDict) -> tuple[str, str]:
    """Label and address of the preview of an act on all that the list shows; both empty where that page could not mean
    the same, or nothing can be done."""
    given = {name: str(value).strip() for name, value in query.items() if value and name not in _PLACES}
    act = _ACTS.get(given.get("status", ""))
    if act is None or not given.keys() <= _NAMES.keys():
        return "", ""
    name, label = act
    values = {"act": name, **{_NAMES[known]: value for known, value in given.items()}}
    return label, f"{reverse('admin:bulk-preview')}?{urlencode({k: v for k, v in values.items() if v})}"
