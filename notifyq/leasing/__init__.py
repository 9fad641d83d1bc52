"""The kernel of every queue here: claim → settle, release or rescue, over a `LeasedModel`.

It knows nothing of what is delivered. A row is taken under a lease with a fresh fencing token; whatever ends the
lease is one guarded statement that matches id, token and status, so that a holder whose lease was given to another
changes nothing.
"""

from notifyq.leasing.arrays import Arrays
from notifyq.leasing.bisect import write_all
from notifyq.leasing.claim import in_any_transaction, in_transaction_bounded, lock, take
from notifyq.leasing.end import Follower, end_leases
from notifyq.leasing.fixed import Fixed, FixedLock
from notifyq.leasing.insert import insert_new
from notifyq.leasing.lookups import AnyOf, Epoch, SecondsSince

__all__ = [
    "AnyOf",
    "Arrays",
    "Epoch",
    "Fixed",
    "FixedLock",
    "Follower",
    "SecondsSince",
    "end_leases",
    "in_any_transaction",
    "in_transaction_bounded",
    "insert_new",
    "lock",
    "take",
    "write_all",
]
