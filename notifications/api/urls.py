"""The addresses below /api/v1/, none with a slash at its end."""

from django.urls import path, register_converter
from django.urls.converters import StringConverter

from notifications.api.breakers import Breakers, ResetBreaker, TripBreaker
from notifications.api.cancel_notification import CancelNotification
from notifications.api.cancel_together import CancelTogether
from notifications.api.create_batch import CreateBatch
from notifications.api.create_notification import CreateNotification
from notifications.api.inbox import Inbox, ReadAllEntries, ReadEntry, UnreadCount
from notifications.api.list_notifications import ListNotifications
from notifications.api.pauses import Pause, Pauses
from notifications.api.read_notification import ReadNotification
from notifications.api.reschedule_notification import RescheduleNotification
from notifications.api.resolve_notification import ResolveNotification
from notifications.api.retry_many import RetryMany
from notifications.api.retry_notification import RetryNotification
from notifications.api.stats import Stats
from notifications.request.recipients import INBOX_WORDS


class UserIdConverter(StringConverter):
    """A user id may hold slashes, but ends in none of the words that follow it (`request.recipients`)."""

    regex = rf"(?:(?!/(?:{'|'.join(INBOX_WORDS)})$).)+"


register_converter(UserIdConverter, "user")


class NotificationCollection(CreateNotification, ListNotifications):
    """Both things that can be done at one address."""

    scopes = {**CreateNotification.scopes, **ListNotifications.scopes}


_ONE = "notifications/<uuid:notification_id>"
_INBOX = "inbox/<user:user_id>"

urlpatterns = [
    path("notifications", NotificationCollection.as_view(), name="notifications"),
    path("stats", Stats.as_view(), name="stats"),
    path("notifications/batch", CreateBatch.as_view(), name="notifications-batch"),
    path("notifications/cancel", CancelTogether.as_view(), name="notifications-cancel"),
    path("notifications/retry", RetryMany.as_view(), name="notifications-retry"),
    path(_ONE, ReadNotification.as_view(), name="notification"),
    path(f"{_ONE}/cancel", CancelNotification.as_view(), name="notification-cancel"),
    path(f"{_ONE}/reschedule", RescheduleNotification.as_view(), name="notification-reschedule"),
    path(f"{_ONE}/retry", RetryNotification.as_view(), name="notification-retry"),
    path(f"{_ONE}/resolve", ResolveNotification.as_view(), name="notification-resolve"),
    path(f"{_INBOX}/unread-count", UnreadCount.as_view(), name="inbox-unread-count"),
    path(f"{_INBOX}/read-all", ReadAllEntries.as_view(), name="inbox-read-all"),
    path(f"{_INBOX}/<uuid:entry_id>/read", ReadEntry.as_view(), name="inbox-read"),
    path(_INBOX, Inbox.as_view(), name="inbox"),
    path("pauses", Pauses.as_view(), name="pauses"),
    path("pauses/<uuid:pause_id>", Pause.as_view(), name="pause"),
    path("breakers", Breakers.as_view(), name="breakers"),
    path("breakers/<str:channel>/<str:provider>/trip", TripBreaker.as_view(), name="breaker-trip"),
    path("breakers/<str:channel>/<str:provider>/reset", ResetBreaker.as_view(), name="breaker-reset"),
]
