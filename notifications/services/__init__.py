"""What may be done with notifications. API, admin, commands and producers' own Django code all come here."""

from notifications.queue import Actor
from notifications.services.cancel import CancelledTogether, cancel, cancel_together
from notifications.services.reschedule import reschedule
from notifications.services.resolve import resolve
from notifications.services.retry import RetriedMany, retry, retry_many
from notifications.services.submit import Submission, check_request, submit

__all__ = [
    "Actor",
    "CancelledTogether",
    "RetriedMany",
    "Submission",
    "cancel",
    "cancel_together",
    "check_request",
    "reschedule",
    "resolve",
    "retry",
    "retry_many",
    "submit",
]
