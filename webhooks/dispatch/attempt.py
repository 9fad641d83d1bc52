"""One attempt at one event. Runs in a thread that holds no database connection, no lock and no transaction."""

from __future__ import annotations

import logging
import random
from dataclasses import dataclass

from notifyq import secrets
from notifyq.runtime.clock import elapsed
from webhooks import outcome
from webhooks.dispatch.call import EndpointCaller
from webhooks.outcome import Decision, Reply
from webhooks.queue import AttemptRecord, Claimed, Ending
from webhooks.signing import signed_headers

log = logging.getLogger(__name__)
_DICE = random.Random()


@dataclass(frozen=True, slots=True)
class Held:
    """What a dispatcher holds. Instants are on `notifyq.runtime.clock.elapsed`.

    Attributes:
        claimed_at: an instant before the claim was asked for.
        lease_until: when the lease is over, never later than the database thinks.
    """

    claimed: Claimed
    claimed_at: float
    lease_until: float

    def now_epoch_seconds(self) -> float:
        """The time of day as the database has it: receivers refuse a signature whose time is off, and this machine's
        clock may be."""
        return self.claimed.claimed_at_epoch_seconds + elapsed() - self.claimed_at


@dataclass(frozen=True, slots=True)
class Done:
    """What an attempt came to: to be settled, or given back (`reply` is None) when nothing was begun.

    Attributes:
        frees_seat: its thread is free again.
    """

    held: Held
    decision: Decision
    reply: Reply | None
    started: float
    finished: float
    frees_seat: bool = False

    @property
    def seconds(self) -> float:
        return self.finished - self.started

    def ending(self, now: float, worker_id: str) -> Ending:
        """As the queue writes it; `now` is on the same clock."""
        claimed = self.held.claimed
        return Ending(claimed.id, claimed.token, claimed.endpoint_id, self.decision, self._record(now, worker_id))

    def _record(self, now: float, worker_id: str) -> AttemptRecord | None:
        if self.reply is None:
            return None
        return AttemptRecord(
            cycle=self.held.claimed.cycle,
            number=self.held.claimed.standing.attempt_number,
            response_status=self.reply.status,
            response_excerpt=self.reply.excerpt,
            error_code=self.reply.error_code,
            started_ago_seconds=max(0.0, now - self.started),
            finished_ago_seconds=max(0.0, now - self.finished),
            worker_id=worker_id,
        )


def attempt(held: Held, caller: EndpointCaller) -> Done:
    """Make one attempt. Never raises: a bug of ours, of any kind, ends this one event and no other."""
    started = elapsed()
    if held.lease_until - started < caller.timeout_seconds:
        return given_back(held)
    try:
        reply = _call(held, caller)
        decision = outcome.after_reply(held.claimed.standing, reply, _DICE)
    except BaseException as error:  # noqa: BLE001 (top of the attempt: nothing may end a thread)
        log.error(  # noqa: TRY400 (the traceback's values may hold a secret)
            "webhook_attempt_broke", extra={"event_id": str(held.claimed.id), "error": type(error).__name__}
        )
        reply, decision = Reply(None, outcome.BUG), outcome.after_bug()
    return Done(held, decision, reply, started, elapsed())


def given_back(held: Held) -> Done:
    """Nothing was begun."""
    now = elapsed()
    return Done(held, outcome.given_back(), None, now, now)


def _call(held: Held, caller: EndpointCaller) -> Reply:
    claimed = held.claimed
    try:
        opened = [secrets.decrypt(token) for token in claimed.secrets_encrypted]
    except secrets.Unreadable:
        return Reply(None, "secret_unreadable")
    headers = signed_headers(str(claimed.id), claimed.body, opened, at_epoch_seconds=held.now_epoch_seconds())
    return caller.call(claimed.url, claimed.body, headers)
