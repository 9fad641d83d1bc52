"""The tables of the webhooks app."""

from webhooks.models.attempt import WebhookAttempt
from webhooks.models.endpoint import WebhookEndpoint
from webhooks.models.event import WebhookEvent
from webhooks.models.redelivery import Redelivery

__all__ = ["Redelivery", "WebhookAttempt", "WebhookEndpoint", "WebhookEvent"]
