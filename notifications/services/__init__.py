"""What may be done with notifications. API, admin, commands and producers' own Django code all come here."""

from notifications.services.cancel import cancel
from notifications.services.submit import Submission, check_request, submit

__all__ = ["Submission", "cancel", "check_request", "submit"]
