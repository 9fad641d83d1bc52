"""Endpoints: made, changed, given a new secret, deleted."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now

from notifications.models import Client
from notifyq import secrets
from webhooks import queue, selectors
from webhooks.errors import TooManyEndpoints
from webhooks.models import WebhookEndpoint
from webhooks.request import DEFAULT_EVENTS, EndpointRequest, check_endpoint
from webhooks.signing import new_secret

ENDPOINTS_MOST = 20
"""Of one client: each outcome writes an event for each endpoint, in the transaction of the outcome."""
ROTATION_OVERLAP = timedelta(hours=24)


def create_endpoint(client: Client, raw: Mapping[str, Any]) -> tuple[WebhookEndpoint, str]:
    """A new endpoint and its secret, which is shown nowhere else.

    Args:
        raw: `url` (required), `description`, `events`, `enabled`.

    Raises:
        InvalidRequest: with all that is wrong.
        TooManyEndpoints: the client has 20 already.

    Transaction: one of its own. Locks: the client, so that two calls at once cannot both make the twentieth.
    """
    request = _checked(raw, complete=True)
    secret = new_secret()
    with transaction.atomic():
        Client.objects.select_for_update(no_key=True).get(pk=client.pk)
        if selectors.endpoints(client).count() >= ENDPOINTS_MOST:
            raise TooManyEndpoints(f"a client may have at most {ENDPOINTS_MOST} webhook endpoints")
        disabled = request.enabled is False
        made = WebhookEndpoint.objects.create(
            client=client,
            url=request.url or "",
            description=request.description or "",
            events=list(request.events or DEFAULT_EVENTS),
            enabled=not disabled,
            disabled_at=Now() if disabled else None,
            secret_encrypted=secrets.encrypt(secret),
        )
    return selectors.endpoint(made.pk, client), secret


def change_endpoint(endpoint_id: UUID, client: Client | None, raw: Mapping[str, Any]) -> WebhookEndpoint:
    """Change what is given of an endpoint. Safe to repeat.

    Enabling it makes a new beginning: what the service held against it is forgotten. Disabling it ends what waits for
    it; that can be replayed later. What becomes of notifications while its owner has it disabled is not recorded.

    Raises:
        NotFound: there is none, or it is another client's.
        InvalidRequest: with all that is wrong.
    """
    found = selectors.endpoint(endpoint_id, client)
    request = _checked(raw, complete=False)
    WebhookEndpoint.objects.filter(pk=found.pk, deleted_at__isnull=True).update(**_changes(found, request))
    if request.enabled is False:
        queue.cancel_waiting(found.pk)
    return selectors.endpoint(endpoint_id, client)


def enable_endpoint(endpoint_id: UUID, *, enabled: bool) -> bool:
    """Enable or disable any client's endpoint, as `change_endpoint` does. Returns whether this call did it: False where
    it was so already, or is deleted.

    Transaction: the caller's, or one of its own. Locks: the endpoint.
    """
    request = EndpointRequest(url=None, description=None, events=None, enabled=enabled)
    with transaction.atomic():
        others = WebhookEndpoint.objects.filter(pk=endpoint_id, deleted_at__isnull=True, enabled=not enabled)
        found = others.select_for_update(no_key=True).first()
        if found is None:
            return False
        others.update(**_changes(found, request))
        if not enabled:
            queue.cancel_waiting(endpoint_id)
    return True


def delete_endpoint(endpoint_id: UUID, client: Client | None) -> None:
    """Send nothing more there, and forget the secrets. What was sent stays on record.

    Raises:
        NotFound: there is none (any more), or it is another client's.
    """
    found = selectors.endpoint(endpoint_id, client)
    WebhookEndpoint.objects.filter(pk=found.pk, deleted_at__isnull=True).update(
        enabled=False,
        disabled_at=Now(),
        disabled_reason="",
        deleted_at=Now(),
        updated_at=Now(),
        secret_encrypted="",
        previous_secret_encrypted="",
        previous_expires_at=None,
    )
    queue.cancel_waiting(found.pk)


def rotate_secret(endpoint_id: UUID, client: Client | None) -> tuple[WebhookEndpoint, str]:
    """Give the endpoint a new secret. For 24 hours the present one signs too; an older one no longer does.

    Raises:
        NotFound: there is none, or it is another client's.

    Transaction: one update, so that two at once leave the two latest secrets.
    """
    found = selectors.endpoint(endpoint_id, client)
    secret = new_secret()
    WebhookEndpoint.objects.filter(pk=found.pk, deleted_at__isnull=True).update(
        secret_encrypted=secrets.encrypt(secret),
        previous_secret_encrypted=F("secret_encrypted"),
        previous_expires_at=Now() + ROTATION_OVERLAP,
        updated_at=Now(),
    )
    return selectors.endpoint(endpoint_id, client), secret


def _checked(raw: Mapping[str, Any], *, complete: bool) -> EndpointRequest:
    return check_endpoint(raw, allow_private=settings.NOTIFYQ.webhook_allow_private_addresses, complete=complete)


def _changes(found: WebhookEndpoint, request: EndpointRequest) -> dict[str, Any]:
    given = {"url": request.url, "description": request.description, "enabled": request.enabled}
    changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if request.events is not None:
        changes["events"] = list(request.events)
    if request.enabled is True:
        changes |= {"disabled_at": None, "disabled_reason": "", "failing_since": None}
    if request.enabled is False:
        changes |= {"disabled_at": found.disabled_at or Now(), "disabled_reason": ""}
    return changes | {"updated_at": Now()}
