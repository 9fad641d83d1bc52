"""The addresses below /api/v1/, none with a slash at its end."""

from django.urls import path

from notifications.api.cancel_notification import CancelNotification
from notifications.api.create_notification import CreateNotification
from notifications.api.list_notifications import ListNotifications
from notifications.api.pauses import Pause, Pauses
from notifications.api.read_notification import ReadNotification


class NotificationCollection(CreateNotification, ListNotifications):
    """Both things that can be done at one address."""

    scopes = {**CreateNotification.scopes, **ListNotifications.scopes}


urlpatterns = [
    path("notifications", NotificationCollection.as_view(), name="notifications"),
    path("notifications/<uuid:notification_id>", ReadNotification.as_view(), name="notification"),
    path("notifications/<uuid:notification_id>/cancel", CancelNotification.as_view(), name="notification-cancel"),
    path("pauses", Pauses.as_view(), name="pauses"),
    path("pauses/<uuid:pause_id>", Pause.as_view(), name="pause"),
]
