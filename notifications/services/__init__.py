"""What may be done with notifications. API, admin, commands and producers' own Django code all come here."""

from notifications.queue import Actor, BulkFilter, BulkSelection
from notifications.services.acts import as_seen
from notifications.services.breakers import (
    breaker_as_seen,
    check_breaker,
    reset_breaker,
    trip_breaker,
    use_again,
    use_no_more,
)
from notifications.services.bulk import BulkPreview, begin_bulk, preview_bulk, read_bulk, resume_bulk, stop_bulk
from notifications.services.cancel import CancelledTogether, cancel, cancel_together
from notifications.services.limits import add_limit, change_limits, edit_limit, remove_limits
from notifications.services.pauses import check_pause, find_pause, pause, pause_told, resume
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
    "BulkFilter",
    "BulkPreview",
    "BulkSelection",
    "CancelledTogether",
    "GroupSubmission",
    "RetriedMany",
    "Submission",
    "add_limit",
    "as_seen",
    "begin_bulk",
    "breaker_as_seen",
    "cancel",
    "cancel_together",
    "change_limits",
    "check_breaker",
    "check_group_request",
    "check_pause",
    "check_request",
    "edit_limit",
    "find_pause",
    "pause",
    "pause_told",
    "preview_bulk",
    "read_bulk",
    "receive",
    "receiver_of",
    "remove_limits",
    "reschedule",
    "reset_breaker",
    "resolve",
    "resume",
    "resume_bulk",
    "retry",
    "retry_many",
    "stop_bulk",
    "submit",
    "submit_group",
    "submit_many",
    "trip_breaker",
    "use_again",
    "use_no_more",
]
