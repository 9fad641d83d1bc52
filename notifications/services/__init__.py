"""What may be done with notifications. API, admin, commands and producers' own Django code all come here."""

from notifications.services.cancel import cancel
from notifications.services.pauses import check_pause, find_pause, pause, resume
from notifications.services.submit import Submission, check_request, submit

__all__ = ["Submission", "cancel", "check_pause", "check_request", "find_pause", "pause", "resume", "submit"]
