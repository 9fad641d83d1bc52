"""The operators' console: endpoints, events, attempts and redeliveries. Read-only but for what the services do."""

from notifyq.console import Link, add_link
from webhooks import story  # noqa: F401 (it brings its part of a notification's page)
from webhooks.admin import bulk, ticked  # noqa: F401 (they bring their pages)
from webhooks.admin.events import WebhookEventAdmin
from webhooks.admin.lists import RedeliveryAdmin, WebhookAttemptAdmin, WebhookEndpointAdmin

__all__ = ["RedeliveryAdmin", "WebhookAttemptAdmin", "WebhookEndpointAdmin", "WebhookEventAdmin"]

_HOLDS = tuple(f"webhooks/{place}" for place in ("webhookendpoint", "webhookattempt", "redelivery"))
add_link(Link("Webhooks", "admin:webhooks_webhookevent_changelist", "webhooks.view_webhookevent", 50, _HOLDS))
