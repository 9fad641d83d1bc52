"""What keeps the queue going besides delivering: taking back expired leases, ending what has outlived its time."""

from __future__ import annotations

import logging
import random
from collections import Counter
from collections.abc import Callable, Sequence

from notifications import metrics, queue
from notifications.channel import Channel
from notifications.providers.chains import Chains
from notifications.queue.expire import Ended
from notifications.queue.rescue import LIMIT, Rescued, Safety
from notifyq.runtime.clock import elapsed
from ratelimits import ledger
from ratelimits.window import Limit

log = logging.getLogger(__name__)

PRUNE_EVERY_SECONDS = 60.0
FOLD_EVERY_SECONDS = 10.0
BULK_EVERY_SECONDS = 0.25


def safety_of(chains: Chains) -> Callable[[Channel, str], Safety]:
    """What the rescue has to know of a provider, read from its capabilities."""

    def safety(channel: Channel, name: str) -> Safety:
        chain = chains[channel]
        provider = chain.named(name) if name else chain.first
        if provider is None:  # no longer in the chain: whatever it had may have been sent, and nobody can be asked
            return Safety(name, records_start=False, dedupe_window_seconds=None)
        return Safety(provider.name, chain.records_start(provider), provider.capabilities.dedupe_window_seconds)

    return safety


class Upkeep:
    """Every worker does it, about once a poll; each pass is bounded and guarded, so any number may do it at once."""

    def __init__(
        self, chains: Chains, interval_seconds: float, rate_limit: Limit | None, aging_seconds: float = 0.0
    ) -> None:
        self._safety = safety_of(chains)
        self._rate_limit = rate_limit
        self._aging_seconds = aging_seconds
        self._interval_seconds = interval_seconds
        self._next = self._next_bulk = 0.0
        self._next_prune = elapsed() + PRUNE_EVERY_SECONDS * random.uniform(0.0, 1.0)
        self._next_fold = elapsed() + FOLD_EVERY_SECONDS * random.uniform(0.0, 1.0)

    def run_once(self) -> int:
        """One pass over what is parked, and, when it is time for one, over the rest. Returns how many rows it moved."""
        released = queue.release_parked(self._rate_limit) + queue.release_paused() + self._work_off()
        if elapsed() < self._next:
            return released
        rescued = self.rescue()
        expired = queue.expire()
        report_expired(expired)
        promoted = queue.promote(self._aging_seconds) if self._aging_seconds else 0
        self._prune()
        self._fold()
        more = len(rescued) >= LIMIT or expired.total() >= queue.EXPIRE_LIMIT or promoted >= queue.PROMOTE_LIMIT
        self._next = 0.0 if more else elapsed() + self._interval_seconds * random.uniform(0.75, 1.25)
        return released + len(rescued) + expired.total() + promoted

    def _work_off(self) -> int:
        """A batch of a bulk act. An idle worker comes by once a poll, so what it makes up for is longer than that."""
        if elapsed() < self._next_bulk:
            return 0
        self._next_bulk = elapsed() + BULK_EVERY_SECONDS
        return queue.work_off(max(2.0, 2 * self._interval_seconds))

    def _prune(self) -> None:
        """Slots are kept well beyond their window, so that one that is made longer still finds them."""
        if elapsed() < self._next_prune:
            return
        window = ledger.longest_window_seconds(self._rate_limit)
        pruned = ledger.prune(2 * window + 3600)
        again = 0.0 if pruned >= ledger.PRUNE_LIMIT else PRUNE_EVERY_SECONDS * random.uniform(0.5, 1.5)
        self._next_prune = elapsed() + again

    def _fold(self) -> None:
        if elapsed() >= self._next_fold:
            queue.fold_tallies()
            self._next_fold = elapsed() + FOLD_EVERY_SECONDS * random.uniform(0.5, 1.5)

    def rescue(self, worker_ids: Sequence[str] | None = None) -> list[Rescued]:
        """Take back what expired leases or dead workers hold, and say so."""
        rescued = queue.rescue(self._safety, worker_ids=worker_ids)
        if rescued:
            metrics.record_rescued(len(rescued))
            ended = [(r.ending.decision.status, r.channel) for r in rescued if r.ending.decision.is_final]
            metrics.record_finished(Counter(ended))
            log.warning("leases_rescued", extra={"count": len(rescued), "by_death": worker_ids is not None})
        return rescued


def report_expired(expired: Ended) -> None:
    """Metrics of what was ended because its time to live was over."""
    metrics.record_expired(expired.total())
    metrics.record_finished(expired)
