"""What may go wrong with webhooks, beside what may go wrong with anything."""

from __future__ import annotations

from notifications.errors import NotifyError


class EndpointDisabled(NotifyError):
    """The endpoint takes no events; it has to be enabled first."""


class BeingDelivered(NotifyError):
    """The event is on its way at this moment."""


class MovedMeanwhile(NotifyError):
    """The event is not any more as the caller saw it; nothing was changed."""


class TooManyEndpoints(NotifyError):
    """The client has as many endpoints as it may have."""
