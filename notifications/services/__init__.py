"""What may be done with notifications. API, admin, commands and producers' own Django code all come here."""

from notifications.queue import Actor
from notifications.services.breakers import check_breaker, reset_breaker, trip_breaker
from notifications.services.cancel import CancelledTogether, cancel, cancel_together
from notifications.services.pauses import check_pause, find_pause, pause, resume
from notifications.services.receipts import receive, receiver_of
from notifications.services.reschedule import reschedule
from notifications.services.resolve import resolve
from notifications.services.retry import RetriedMany, retry, retry_many
from notifications.services.submit import (
    GroupSubmission,
    Submission,
    check_group_request,
    check_request,
    submit,
    submit_group,
    submit_many,
)

__all__ = [
    "Actor",
    "CancelledTogether",
    "GroupSubmission",
    "RetriedMany",
    "Submission",
    "cancel",
    "cancel_together",
    "check_breaker",
    "check_group_request",
    "check_pause",
    "check_request",
    "find_pause",
    "pause",
    "receive",
    "receiver_of",
    "reschedule",
    "reset_breaker",
    "resolve",
    "resume",
    "retry",
    "retry_many",
    "submit",
    "submit_group",
    "submit_many",
    "trip_breaker",
]
