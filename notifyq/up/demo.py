"""What there is to try in the console after the first start: notifications that wait, that failed, that a retry sends.

The sandbox provider's magic recipients (notifyq.sandbox.magic) decide what becomes of each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from notifications.channel import Channel
from notifications.models import Notification
from notifyq.up import first
from notifyq.up.screen import Screen

_MINUTES_2, _DAY = 120, 86_400
_LIMIT_MOST = 20
"""To pass a higher limit by two would fill the lists with one recipient."""
_BEYOND_LIMIT = 2

# Few failures of each channel: five in a row look like an outage of the provider.
_ROWS: tuple[dict[str, Any], ...] = (
    {"channel": "EMAIL", "recipient": "ada@example.com", "subject": "Order 1001 has been shipped", "priority": "HIGH"},
    {"channel": "SMS", "recipient": "+12025550142", "body": "Your code is 271828.", "priority": "HIGH"},
    {"channel": "PUSH", "recipient": "fcm:demo-device", "subject": "Your parcel is at the door"},
    {"channel": "IN_APP", "recipient": "ada", "subject": "Your invoice is ready"},
    {"channel": "EMAIL", "recipient": "grace@example.com", "subject": "In two minutes", "delaySeconds": _MINUTES_2},
    {"channel": "EMAIL", "recipient": "grace@example.com", "subject": "Tomorrow", "delaySeconds": _DAY},
    {"channel": "SMS", "recipient": "+12025550143", "body": "Your table is free in an hour.", "delaySeconds": _DAY},
    # Refused twice, then accepted: two attempts end as a dead letter, and a retry by an operator is the third.
    {"channel": "EMAIL", "recipient": "temporary-twice@example.com", "subject": "Retry me", "maxAttempts": 2},
    {"channel": "SMS", "recipient": "+12025550003", "body": "Retry me.", "maxAttempts": 2},
    {"channel": "PUSH", "recipient": "fcm:temporary-twice", "subject": "Retry me", "maxAttempts": 2},
    {"channel": "EMAIL", "recipient": "temporary@example.com", "subject": "Never accepted", "maxAttempts": 1},
    {"channel": "EMAIL", "recipient": "reject@example.com", "subject": "To an address that is gone"},
    {"channel": "SMS", "recipient": "+12025550001", "body": "To a number that is gone."},
    {"channel": "PUSH", "recipient": "fcm:accept-then-500", "subject": "Its first answer gets lost"},
)
_LIMITED = {"channel": "EMAIL", "recipient": "news@example.com", "subject": "News", "priority": "LOW"}
RECIPIENTS = frozenset(row["recipient"] for row in (*_ROWS, _LIMITED))
KEY_PREFIX = "demo-"
"""How the idempotency keys of all begin that `up` sends by itself."""


def is_wanted() -> bool:
    """Whether this is a first start: nobody's own notifications are to be mixed with ours."""
    return not Notification.objects.exists()


def bodies(channels: Iterable[Channel], rate_limit_count: int) -> list[dict[str, Any]]:
    """Request bodies for a batch, with fixed keys: a repeat adds nothing.

    Args:
        channels: those that reach nobody outside this machine.
        rate_limit_count: how many a recipient gets; 0 for no limit.
    """
    rows = [*_ROWS, *_beyond(rate_limit_count)]
    allowed = set(channels)
    return [_complete(number, row) for number, row in enumerate(rows, 1) if row["channel"] in allowed]


def send(client: first.Client, rows: Sequence[Mapping[str, Any]], hooks_url: str) -> None:
    """Have the demo client told of outcomes, and send it all; waits for no outcome.

    Raises:
        first.KeyRefused, first.Unexpected, requests.RequestException
    """
    # Webhooks to this machine may be switched off: the rest can be tried all the same.
    with suppress(first.Unexpected):
        client.add_webhook(hooks_url, "the sandbox provider, which says yes to all")
    client.send_all(rows)


def show(screen: Screen, hooks_url: str) -> None:
    """What to do with it, in words that any terminal can show."""
    screen.title("Try the console: this first start brings something to act on")
    screen.row("Dead letters", "retry them: all go out but the one to temporary@example.com")
    screen.row("Waiting", "for two minutes, for tomorrow, for the rate limit of a recipient")
    screen.row("Webhooks", f"{hooks_url}   what the demo client was told")
    screen.row("An outage", "tick 'Down' on the sandbox's page, send something, watch the front page")


def _beyond(rate_limit_count: int) -> Iterator[dict[str, Any]]:
    """As many to one recipient as the limit lets through, and some more."""
    if 0 < rate_limit_count <= _LIMIT_MOST:
        for issue in range(1, rate_limit_count + _BEYOND_LIMIT + 1):
            yield _LIMITED | {"subject": f"News, issue {issue}", "reference": "news"}


def _complete(number: int, row: dict[str, Any]) -> dict[str, Any]:
    known = {"idempotencyKey": f"{KEY_PREFIX}{number}", "reference": f"order-{1000 + number}"}
    return known | {"body": "This is an example. It went to the sandbox provider and to nobody else."} | row
