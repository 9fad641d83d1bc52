"""Clears up what nobody is sure of: asks the providers what became of sends whose answers were lost."""

from __future__ import annotations

import logging
import queue as queues
import random
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import uuid4

from django.db import connection

from notifications import metrics, queue, selectors
from notifications.delivery.asking import Question
from notifications.delivery.seats import Seats
from notifications.delivery.senders import Senders
from notifications.providers.base import Provider
from notifications.providers.chains import Chains
from notifications.queue import Asking, Ending, LookUpRecord
from notifications.reconciliation import after_finding
from notifications.retry import Backoff
from notifications.verdict import Finding
from notifyq.runtime.clock import elapsed
from notifyq.runtime.loop import Rounds

log = logging.getLogger(__name__)
_DICE = random.Random()

SEATS = 4
"""How many questions are put to one provider at a time by one process. Each provider has seats of its own, so one
that answers slowly keeps nobody from asking the others."""
BATCH = 4 * SEATS
LEASE_MARGIN_SECONDS = 2.0
GATHER_SECONDS = 0.02
"""Answers that come within this of each other are written together."""


@dataclass(frozen=True, slots=True)
class _Answer:
    question: Question
    finding: Finding


@dataclass(frozen=True, slots=True)
class Report:
    """What came of asking: how often each answer was given, and where the notifications went."""

    found: Counter[str]
    became: Counter[str]

    def __add__(self, other: Report) -> Report:
        return Report(self.found + other.found, self.became + other.became)


NOTHING = Report(Counter(), Counter())


class Reconciler:
    """One thread with a connection, which takes and settles, and a few threads without one, which ask.

    `run_pass` does without the first: whoever calls it is that thread.
    """

    def __init__(
        self, worker_id: str, chains: Chains, backoff: Backoff, *, timeout_seconds: float, poll_seconds: float
    ) -> None:
        """Args: timeout_seconds: bound on one look-up."""
        self._worker_id = worker_id
        self._chains = chains
        self._backoff = backoff
        self._timeout_seconds = timeout_seconds
        self._poll_seconds = poll_seconds
        self._lease_seconds = (BATCH / SEATS + 1) * timeout_seconds + LEASE_MARGIN_SECONDS
        self._senders = Senders()
        self._seats: dict[str, Seats] = {}
        self._held: Counter[str] = Counter()
        self._held_count = 0
        self._idle = False
        self._incoming: queues.SimpleQueue[_Answer] = queues.SimpleQueue()
        self._answers: list[_Answer] = []
        self._wake = threading.Event()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="reconciler", daemon=True)

    @property
    def is_idle(self) -> bool:
        """It has looked, nothing was due to be asked about, and no answer is awaited."""
        return self._idle

    @property
    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def start(self) -> None:
        self._thread.start()

    def close(self, timeout_seconds: float) -> None:
        """Settle what was answered, let others ask the rest, and end. A question under way is left to itself: it
        changes nothing at the provider."""
        self._stop.set()
        self._wake.set()
        self._thread.join(timeout_seconds)

    def run_once(self, due_before: datetime | None = None) -> tuple[Report, int]:
        """One round: settle what was answered, and put the next questions.

        Args:
            due_before: only what was due to be asked about by then.

        Returns:
            What was settled, and how many were taken.

        Raises:
            DatabaseError: answers are kept, and the next round writes them.
        """
        report = self._settle()
        taken = sum(self._take(name, due_before) for name in queue.providers_in_doubt())
        return report, taken

    def run_pass(self) -> Report:
        """Ask once about everything that is due now; returns when the last answer is settled, or none comes any more.

        Raises:
            DatabaseError: the database is away. What was taken is asked about again, by whoever comes next.
        """
        due_before, report, heard = selectors.database_now(), NOTHING, elapsed()
        try:
            while True:
                settled, taken = self.run_once(due_before)
                report += settled
                heard = elapsed() if taken or settled.found else heard
                if not (taken or self._held_count) or elapsed() - heard > self._lease_seconds:
                    return report
                self._await(self._timeout_seconds)
        finally:
            self._end()

    def _run(self) -> None:
        rounds = Rounds("reconciler", self._stop, metrics.record_round_error)
        while not self._stop.is_set():
            done = rounds.run(self.run_once)
            took = done is not None and done[1] > 0
            self._idle = done is not None and not took and not self._held_count
            self._await(0.0 if took else self._poll_seconds * random.uniform(0.75, 1.25))
        rounds.run(self._settle)
        rounds.run(self._end)
        connection.close()

    def _await(self, seconds: float) -> None:
        """Until the next answers, at most so long."""
        if self._wake.wait(seconds):
            self._stop.wait(GATHER_SECONDS)
        self._wake.clear()

    def _end(self) -> None:
        for seats in self._seats.values():
            seats.close()
        if self._held_count:
            queue.free_askings([self._worker_id], at_once=True)

    def _take(self, name: str, due_before: datetime | None) -> int:
        room = BATCH - self._held[name]
        if room < SEATS:
            return 0
        taken = elapsed()
        askings = queue.take_askings(
            name,
            room,
            worker_id=self._worker_id,
            token=uuid4(),
            lease_seconds=self._lease_seconds,
            due_before=due_before,
        )
        self._senders.refresh({asking.client_id for asking in askings})
        self._hold(name, len(askings))
        for asking in askings:
            self._put(Question(asking, self._askable(asking), self._senders.of(asking.client_id), taken))
        return len(askings)

    def _askable(self, asking: Asking) -> Provider | None:
        provider = self._chains[asking.channel].named(asking.standing.unconfirmed_provider)
        return provider if provider is not None and provider.capabilities.lookup is not None else None

    def _put(self, question: Question) -> None:
        name = question.provider_name
        if question.provider is None:
            self._ask(question)
            return
        if name not in self._seats:
            self._seats[name] = Seats(f"ask-{name}", SEATS)
        self._seats[name].put(lambda: self._ask(question))

    def _ask(self, question: Question) -> None:
        self._incoming.put(_Answer(question, question.ask(self._timeout_seconds)))
        self._wake.set()

    def _settle(self) -> Report:
        while not self._incoming.empty():
            self._answers.append(self._incoming.get())
        if not self._answers:
            return NOTHING
        applied = queue.settle_askings([self._ending(answer) for answer in self._answers])
        answers, self._answers = self._answers, []
        for answer in answers:
            self._hold(answer.question.provider_name, -1)
        return _reported(answers, applied)

    def _hold(self, name: str, change: int) -> None:
        self._held[name] += change
        self._held_count += change

    def _ending(self, answer: _Answer) -> Ending:
        asking, finding = answer.question.asking, answer.finding
        said = LookUpRecord(
            asking.cycle, answer.question.provider_name, finding.found, finding.error_code, finding.error_message
        )
        decision = after_finding(answer.question.doubt(), finding, backoff=self._backoff, dice=_DICE)
        return Ending(asking.id, asking.token, decision, asked=said)


def _reported(answers: Sequence[_Answer], applied: Sequence[Ending]) -> Report:
    """Metrics, and one line in the log."""
    channels = {answer.question.asking.id: answer.question.asking.channel for answer in answers}
    metrics.record_look_ups(Counter((a.question.provider_name, str(a.finding.found)) for a in answers))
    metrics.record_finished(Counter((e.decision.status, channels[e.id]) for e in applied if e.decision.is_final))
    report = Report(
        found=Counter(str(answer.finding.found) for answer in answers),
        became=Counter(str(ending.decision.status) for ending in applied),
    )
    log.info(
        "reconciled",
        extra={
            "count": len(answers),
            "stale": len(answers) - len(applied),
            "found": dict(report.found),
            "became": dict(report.became),
        },
    )
    return report
