"""The addresses below /api/v1/, none with a slash at its end."""

from django.urls import path

from webhooks.api.endpoint_acts import Replay, RotateSecret, SendTest
from webhooks.api.endpoints import EndpointCollection, OneEndpoint
from webhooks.api.events import EventCollection, OneEvent, Redeliver

_ENDPOINT = "webhook-endpoints/<uuid:endpoint_id>"
_EVENT = "webhook-events/<uuid:event_id>"

urlpatterns = [
    path("webhook-endpoints", EndpointCollection.as_view(), name="webhook-endpoints"),
    path(_ENDPOINT, OneEndpoint.as_view(), name="webhook-endpoint"),
    path(f"{_ENDPOINT}/rotate-secret", RotateSecret.as_view(), name="webhook-endpoint-rotate-secret"),
    path(f"{_ENDPOINT}/test", SendTest.as_view(), name="webhook-endpoint-test"),
    path(f"{_ENDPOINT}/replay", Replay.as_view(), name="webhook-endpoint-replay"),
    path("webhook-events", EventCollection.as_view(), name="webhook-events"),
    path(_EVENT, OneEvent.as_view(), name="webhook-event"),
    path(f"{_EVENT}/redeliver", Redeliver.as_view(), name="webhook-event-redeliver"),
]
