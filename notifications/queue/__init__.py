"""The queue: the only package that changes a notification's status.

A row goes in by `insert`, is taken by `claim`, and leaves its lease by `settle`, `release` or `rescue`; `cancel` and
`expire` end what still waits, `reschedule` gives it another time. An operator's `retry` puts back what ended
undelivered, and `resolve` settles what nobody knew; `begin_bulk` has such a thing done to all that matches. Every
change is one guarded statement, so any two callers may race.
"""

from notifications.queue.abandon import abandon
from notifications.queue.acts import Act, Actor
from notifications.queue.admission import Limits
from notifications.queue.aging import PROMOTE_LIMIT, promote
from notifications.queue.bulk import begin_bulk, resume_bulk, stop_bulk, work_off
from notifications.queue.bulk_preview import BulkCount, count_bulk, sample_bulk
from notifications.queue.bulk_selection import BulkSelection
from notifications.queue.cancel import Together, cancel, cancel_together, count_uncancelled
from notifications.queue.claim import Claim, Claimed, Claimer, claim, next_due_in_seconds
from notifications.queue.expire import LIMIT as EXPIRE_LIMIT
from notifications.queue.expire import expire
from notifications.queue.gates import release_parked
from notifications.queue.insert import insert
from notifications.queue.outcomes import on_outcome
from notifications.queue.pauses import begin_pause, end_pause, pauses_in_force, release_paused
from notifications.queue.reschedule import reschedule
from notifications.queue.rescue import Rescued, rescue
from notifications.queue.resolve import resolve
from notifications.queue.retry import RETRYABLE, Selection, count_retryable, retry, retry_many, retryable
from notifications.queue.settle import AttemptRecord, Ending, release, settle
from notifications.queue.start import Start, start_sends
from notifications.queue.tallies import fold_tallies
from notifications.queue.workers import beat, leave

__all__ = [
    "EXPIRE_LIMIT",
    "PROMOTE_LIMIT",
    "RETRYABLE",
    "Act",
    "Actor",
    "AttemptRecord",
    "BulkCount",
    "BulkSelection",
    "Claim",
    "Claimed",
    "Claimer",
    "Ending",
    "Limits",
    "Rescued",
    "Selection",
    "Start",
    "Together",
    "abandon",
    "beat",
    "begin_bulk",
    "begin_pause",
    "cancel",
    "cancel_together",
    "claim",
    "count_bulk",
    "count_retryable",
    "count_uncancelled",
    "end_pause",
    "expire",
    "fold_tallies",
    "insert",
    "leave",
    "next_due_in_seconds",
    "on_outcome",
    "pauses_in_force",
    "promote",
    "release",
    "release_parked",
    "release_paused",
    "reschedule",
    "rescue",
    "resolve",
    "resume_bulk",
    "retry",
    "retry_many",
    "retryable",
    "sample_bulk",
    "settle",
    "start_sends",
    "stop_bulk",
    "work_off",
]
