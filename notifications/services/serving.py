"""Whether anybody serves the address of a request. Only device addresses are of kinds that a chain may not serve."""

from __future__ import annotations

from dataclasses import replace

from django.conf import settings

from notifications.channel import Channel
from notifications.errors import FieldError
from notifications.providers import chains
from notifications.request import Checked, CheckedGroup, NotificationRequest

_CODE = "no_provider"
_MESSAGE = "is of a kind that no provider of this installation serves"


def with_unserved(checked: Checked) -> Checked:
    """The same, with an error where nobody would ever send it: told at once, whoever is mistaken sees it."""
    if _is_served(checked.request):
        return checked
    error = FieldError("recipient", _CODE, _MESSAGE)
    return replace(checked, present_errors=(*checked.present_errors, error))


def with_unserved_targets(checked: CheckedGroup) -> CheckedGroup:
    """The same for a request with targets."""
    errors = [
        FieldError(f"targets[{number}].recipient", _CODE, _MESSAGE)
        for number, request in enumerate(checked.requests)
        if not _is_served(request)
    ]
    return replace(checked, present_errors=(*checked.present_errors, *errors))


def _is_served(request: NotificationRequest) -> bool:
    if request.channel is not Channel.PUSH:
        return True
    return chains.is_served(settings.NOTIFYQ.provider_chains[request.channel], request.recipient)
