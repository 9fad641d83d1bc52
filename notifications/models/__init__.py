"""The tables of the notifications app."""

from notifications.models.attempt import Attempt
from notifications.models.client import ApiKey, Client
from notifications.models.content import Content
from notifications.models.notification import Notification
from notifications.models.pause import Pause
from notifications.models.worker import Worker

__all__ = ["ApiKey", "Attempt", "Client", "Content", "Notification", "Pause", "Worker"]
