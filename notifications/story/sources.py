"""What other apps know of a notification: they know this app, it does not know them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import UUID

from notifications.story.acts import Form
from notifications.story.moment import Moment

Allowed = Callable[[str], bool]
"""Whether the person who looks has a permission, such as `webhooks.view_webhookevent`."""


@dataclass(frozen=True, slots=True)
class Brought:
    """What one app adds to the page of a notification.

    Attributes:
        forms: of the acts that this person may do now.
        is_unfinished: more is going to happen without anybody's doing.
    """

    moments: Sequence[Moment] = ()
    forms: Sequence[Form] = ()
    is_unfinished: bool = False


Source = Callable[[UUID, Allowed], Brought]
_sources: list[Source] = []


def add_source(source: Source) -> None:
    """Have `source` asked whenever the story of a notification is told.

    Args:
        source: gets the notification's id and what the person may do. Called once, when the app's admin is loaded.
    """
    if source not in _sources:
        _sources.append(source)


def brought(notification_id: UUID, allowed: Allowed) -> list[Brought]:
    """What all sources say of it."""
    return [source(notification_id, allowed) for source in _sources]
