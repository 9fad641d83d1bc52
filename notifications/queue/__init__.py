"""The queue: the only package that changes a notification's status.

A row goes in by `insert`, is taken by `claim`, and leaves its lease by `settle`, `release` or `rescue`; `cancel` and
`expire` end what still waits, `reschedule` gives it another time; `take_askings` and `settle_askings` clear up what
nobody was sure of, and `receive` takes in what providers report later. An operator's `retry` puts back what ended
undelivered, and `resolve` settles what nobody knew; `begin_bulk` has such a thing done to all that matches. Every
change is one guarded statement, so any two callers may race.
"""

from notifications.queue.abandon import abandon
from notifications.queue.acts import Act, Actor, hold_for_act
from notifications.queue.admission import Limits
from notifications.queue.aging import PROMOTE_LIMIT, promote
from notifications.queue.asked import LookUpRecord
from notifications.queue.bulk import begin_bulk, resume_bulk, stop_bulk, work_off
from notifications.queue.bulk_kinds import Batch, BulkFilter, Place, add_walk
from notifications.queue.bulk_preview import BulkCount, count_bulk, given_up_after, sample_bulk
from notifications.queue.bulk_selection import BulkSelection
from notifications.queue.cancel import Together, cancel, cancel_together, count_uncancelled
from notifications.queue.claim import Claim, Claimed, Claimer, claim
from notifications.queue.control_acts import last_control_act, record_control
from notifications.queue.credit import Credited
from notifications.queue.due import next_due_in_seconds
from notifications.queue.expire import LIMIT as EXPIRE_LIMIT
from notifications.queue.expire import expire
from notifications.queue.gates import release_parked
from notifications.queue.health import (
    Change,
    Seen,
    begin_probe,
    end_probe,
    hold_breaker,
    read_breakers,
    record_calls,
    reset_breaker,
    trip_breaker,
)
from notifications.queue.insert import insert
from notifications.queue.outcomes import on_outcome
from notifications.queue.paces import PaceSeen, lease_calls, read_paces, throttle
from notifications.queue.pauses import begin_pause, end_pause, pauses_in_force, release_paused
from notifications.queue.receipts import LIMIT as RECEIPTS_LIMIT
from notifications.queue.receipts import Once, Taken, TokenUsed, drop_tokens, look_again, receive
from notifications.queue.reconcile import Asking, free_askings, providers_in_doubt, settle_askings, take_askings
from notifications.queue.reschedule import reschedule
from notifications.queue.rescue import Rescued, rescue
from notifications.queue.resolve import resolve
from notifications.queue.retry import RETRYABLE, Selection, count_retryable, retry, retry_many, retryable
from notifications.queue.settle import AttemptRecord, Ending, release, settle
from notifications.queue.start import Start, start_sends
from notifications.queue.tallies import fold_tallies
from notifications.queue.unavailable import NO_TERMS, Terms
from notifications.queue.workers import beat, leave

__all__ = [
    "EXPIRE_LIMIT",
    "NO_TERMS",
    "PROMOTE_LIMIT",
    "RECEIPTS_LIMIT",
    "RETRYABLE",
    "Act",
    "Actor",
    "Asking",
    "AttemptRecord",
    "Batch",
    "BulkCount",
    "BulkFilter",
    "BulkSelection",
    "Change",
    "Claim",
    "Claimed",
    "Claimer",
    "Credited",
    "Ending",
    "Limits",
    "LookUpRecord",
    "Once",
    "PaceSeen",
    "Place",
    "Rescued",
    "Seen",
    "Selection",
    "Start",
    "Taken",
    "Terms",
    "Together",
    "TokenUsed",
    "abandon",
    "add_walk",
    "beat",
    "begin_bulk",
    "begin_pause",
    "begin_probe",
    "cancel",
    "cancel_together",
    "claim",
    "count_bulk",
    "count_retryable",
    "count_uncancelled",
    "drop_tokens",
    "end_pause",
    "end_probe",
    "expire",
    "fold_tallies",
    "free_askings",
    "given_up_after",
    "hold_breaker",
    "hold_for_act",
    "insert",
    "last_control_act",
    "lease_calls",
    "leave",
    "look_again",
    "next_due_in_seconds",
    "on_outcome",
    "pauses_in_force",
    "promote",
    "providers_in_doubt",
    "read_breakers",
    "read_paces",
    "receive",
    "record_calls",
    "record_control",
    "release",
    "release_parked",
    "release_paused",
    "reschedule",
    "rescue",
    "reset_breaker",
    "resolve",
    "resume_bulk",
    "retry",
    "retry_many",
    "retryable",
    "sample_bulk",
    "settle",
    "settle_askings",
    "start_sends",
    "stop_bulk",
    "take_askings",
    "throttle",
    "trip_breaker",
    "work_off",
]
