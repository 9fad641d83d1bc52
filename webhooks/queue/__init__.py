"""The queue of webhook events: the only package that changes an event's status.

A row goes in by `record_outcomes` (or `add_test_event`), is taken by `claim`, and leaves its lease by `settle`,
`release` or `rescue`; `cancel_waiting` ends what waits for an endpoint that takes no more, `requeue` begins anew, and
`walk` does so with all that matches, for a bulk act.
"""

from webhooks.queue.bulk import EventCount, count_redeliverable, sample_redeliverable, walk
from webhooks.queue.bulk_selection import EventSelection
from webhooks.queue.cancel import cancel_waiting
from webhooks.queue.claim import Claimed, Waiting, claim, waiting_endpoints
from webhooks.queue.endpoints import DISABLE_AFTER
from webhooks.queue.insert import add_test_event, record_outcomes
from webhooks.queue.replay import Replayed, Seen, replay, requeue
from webhooks.queue.rescue import rescue
from webhooks.queue.settle import AttemptRecord, Ending, release, settle

__all__ = [
    "DISABLE_AFTER",
    "AttemptRecord",
    "Claimed",
    "Ending",
    "EventCount",
    "EventSelection",
    "Replayed",
    "Seen",
    "Waiting",
    "add_test_event",
    "cancel_waiting",
    "claim",
    "count_redeliverable",
    "record_outcomes",
    "release",
    "replay",
    "requeue",
    "rescue",
    "sample_redeliverable",
    "settle",
    "waiting_endpoints",
    "walk",
]
