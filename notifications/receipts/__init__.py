"""What vendors tell us later, by calling us: receivers that check who calls and say what a callback means.

Pure: no Django, no database. A receiver checks the signature before it reads anything else, and turns one request of
a vendor into `Receipt`s; what follows from them is decided in `notifications.queue.receipts`.
"""

from notifications.receipts.base import Call, Receipt, Received, Receiver, Refused, Unreadable
from notifications.receipts.registry import Receivers, build
from notifications.receipts.status import DeliveryStatus, strongest

__all__ = [
    "Call",
    "DeliveryStatus",
    "Receipt",
    "Received",
    "Receiver",
    "Receivers",
    "Refused",
    "Unreadable",
    "build",
    "strongest",
]
