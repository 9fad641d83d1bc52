"""The operators' console: every table of the app, read-only."""

from notifications.admin.client import ApiKeyAdmin, ClientAdmin
from notifications.admin.notification import AttemptAdmin, ContentAdmin, NotificationAdmin
from notifications.admin.pause import PauseAdmin
from notifications.admin.worker import WorkerAdmin

__all__ = [
    "ApiKeyAdmin",
    "AttemptAdmin",
    "ClientAdmin",
    "ContentAdmin",
    "NotificationAdmin",
    "PauseAdmin",
    "WorkerAdmin",
]
