"""What keeps the queue going besides delivering: taking back expired leases, ending what has outlived its time."""

from __future__ import annotations

import logging
import random
from collections import Counter
from collections.abc import Sequence

from notifications import metrics, queue
from notifications.channel import Channel
from notifications.providers.chains import Chains
from notifications.queue.expire import Askable, Ended
from notifications.queue.rescue import LIMIT, Rescued, Safety, SafetyOf
from notifications.status import FINAL
from notifyq.runtime.clock import elapsed
from ratelimits import ledger
from ratelimits.window import Limit

log = logging.getLogger(__name__)

PRUNE_EVERY_SECONDS = 60.0
FOLD_EVERY_SECONDS = 10.0
BULK_EVERY_SECONDS = 0.25
RELEASE_EVERY_SECONDS = 0.05


def safety_of(chains: Chains) -> SafetyOf:
    """What the rescue has to know of a provider, read from its capabilities."""

    def safety(channel: Channel, recipient: str, name: str) -> Safety:
        chain = chains[channel].serving(recipient)
        provider = chain.named(name) if name else chain.first
        if provider is None:
            # No longer in the chain: whatever it had may have been sent, and nobody can be asked. Without a name there
            # is nobody whom it could have been begun with.
            return Safety(name, records_start=not name, repeat_window_seconds=None)
        able = provider.capabilities
        # Without a record nothing was sent: either none was made, or nothing is before the settle.
        recorded = chain.records_start(provider) or able.sends_at_settle
        return Safety(provider.name, recorded, able.repeat_window_seconds, able.lookup)

    return safety


def askable_of(chains: Chains) -> Askable:
    """What the queue has to know to have a provider asked, read from its capabilities."""
    return {
        (channel, provider.name): provider.capabilities.lookup.settle_seconds
        for channel, chain in chains.items()
        for provider in chain.providers
        if provider.capabilities.lookup is not None
    }


class Upkeep:
    """Every worker does it, about once a poll; each pass is bounded and guarded, so any number may do it at once."""

    def __init__(
        self, chains: Chains, interval_seconds: float, rate_limit: Limit | None, aging_seconds: float = 0.0
    ) -> None:
        self._safety = safety_of(chains)
        self._askable = askable_of(chains)
        self._rate_limit = rate_limit
        self._aging_seconds = aging_seconds
        self._interval_seconds = interval_seconds
        self._next = self._next_bulk = self._next_release = 0.0
        self._next_prune = elapsed() + PRUNE_EVERY_SECONDS * random.uniform(0.0, 1.0)
        self._next_fold = elapsed() + FOLD_EVERY_SECONDS * random.uniform(0.0, 1.0)

    def run_once(self) -> int:
        """One pass over what is parked, and, when it is time for one, over the rest. Returns how many rows it moved."""
        released = self._release() + self._work_off()
        if elapsed() < self._next:
            return released
        rescued = self.rescue()
        expired = queue.expire(askable=self._askable)
        report_expired(expired)
        promoted = queue.promote(self._aging_seconds) if self._aging_seconds else 0
        looked = self._look_at_receipts()
        self._prune()
        self._fold()
        more = len(rescued) >= LIMIT or expired.total() >= queue.EXPIRE_LIMIT or promoted >= queue.PROMOTE_LIMIT
        more = more or looked >= queue.RECEIPTS_LIMIT
        self._next = 0.0 if more else elapsed() + self._interval_seconds * random.uniform(0.75, 1.25)
        return released + len(rescued) + expired.total() + promoted

    def _release(self) -> int:
        """What may go on: looked for in nearly every round, since somebody waits for it, but not in one of many that
        follow each other at once."""
        if elapsed() < self._next_release:
            return 0
        released = queue.release_parked(self._rate_limit) + queue.release_paused()
        self._next_release = 0.0 if released else elapsed() + RELEASE_EVERY_SECONDS
        return released

    def _look_at_receipts(self) -> int:
        """Those that came before their notification was sent, or while a worker held it."""
        credited = queue.look_again()
        metrics.record_finished(credited.confirmed)
        metrics.record_receipts_not_credited(credited.stray)
        return credited.looked_count

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
        queue.drop_tokens()
        again = 0.0 if pruned >= ledger.PRUNE_LIMIT else PRUNE_EVERY_SECONDS * random.uniform(0.5, 1.5)
        self._next_prune = elapsed() + again

    def _fold(self) -> None:
        if elapsed() >= self._next_fold:
            queue.fold_tallies()
            self._next_fold = elapsed() + FOLD_EVERY_SECONDS * random.uniform(0.5, 1.5)

    def rescue(self, worker_ids: Sequence[str] | None = None) -> list[Rescued]:
        """Take back what expired leases or dead workers hold, and say so."""
        rescued = queue.rescue(self._safety, worker_ids=worker_ids)
        if worker_ids:
            queue.free_askings(worker_ids)
        if rescued:
            metrics.record_rescued(len(rescued))
            ended = [(r.ending.decision.status, r.channel) for r in rescued if r.ending.decision.is_final]
            metrics.record_finished(Counter(ended))
            log.warning("leases_rescued", extra={"count": len(rescued), "by_death": worker_ids is not None})
        return rescued


def report_expired(expired: Ended) -> None:
    """Metrics of what was ended because its time to live was over."""
    ended = Counter({(status, channel): n for (status, channel), n in expired.items() if status in FINAL})
    metrics.record_expired(ended.total())
    metrics.record_finished(ended)
