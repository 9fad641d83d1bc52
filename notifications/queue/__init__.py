"""The queue: the only package that changes a notification's status.

A row goes in by `insert`, is taken by `claim`, and leaves its lease by `settle`, `release` or `rescue`; `cancel` and
`expire` end what still waits. Every change is one guarded statement, so any two callers may race.
"""

from notifications.queue.abandon import abandon
from notifications.queue.admission import Limits
from notifications.queue.cancel import cancel
from notifications.queue.claim import Claim, Claimed, Claimer, claim, next_due_in_seconds
from notifications.queue.expire import LIMIT as EXPIRE_LIMIT
from notifications.queue.expire import expire
from notifications.queue.gates import release_parked
from notifications.queue.insert import insert
from notifications.queue.outcomes import on_outcome
from notifications.queue.pauses import begin_pause, end_pause, pauses_in_force, release_paused
from notifications.queue.rescue import Rescued, rescue
from notifications.queue.settle import AttemptRecord, Ending, release, settle
from notifications.queue.start import Start, start_sends
from notifications.queue.workers import beat, leave

__all__ = [
    "EXPIRE_LIMIT",
    "AttemptRecord",
    "Claim",
    "Claimed",
    "Claimer",
    "Ending",
    "Limits",
    "Rescued",
    "Start",
    "abandon",
    "beat",
    "begin_pause",
    "cancel",
    "claim",
    "end_pause",
    "expire",
    "insert",
    "leave",
    "next_due_in_seconds",
    "on_outcome",
    "pauses_in_force",
    "release",
    "release_parked",
    "release_paused",
    "rescue",
    "settle",
    "start_sends",
]
