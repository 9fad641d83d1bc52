"""What other apps add to the full view of a notification: they know this app, it does not know them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

Panel = Callable[[UUID], dict[str, Any]]
_panels: list[Panel] = []


def add(panel: Panel) -> None:
    """Have `panel` called with a notification's id whenever one is read in full.

    Args:
        panel: returns fields of the answer object by name. Called once, when the application starts.
    """
    if panel not in _panels:
        _panels.append(panel)


def fields_of(notification_id: UUID) -> dict[str, Any]:
    """The fields of all panels."""
    return {name: value for panel in _panels for name, value in panel(notification_id).items()}
