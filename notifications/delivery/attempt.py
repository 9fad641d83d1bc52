"""One attempt at delivering one notification: the calls, and what follows from their verdicts.

Runs in a delivery thread, which holds no database connection, no lock and no transaction.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from notifications import outcome
from notifications.breaker import PROBE_TIMEOUT_SECONDS
from notifications.channel import Channel
from notifications.delivery.bugs import where
from notifications.delivery.controls import Controls
from notifications.delivery.health import Health
from notifications.delivery.held import Finished, Held, Hop, message_of
from notifications.delivery.line import Ticket
from notifications.delivery.routing import Route, ask_wait_seconds, may_send_again, route
from notifications.outcome import Decision
from notifications.providers.base import Provider
from notifications.providers.chains import Chain, Chains
from notifications.retry import Backoff
from notifications.verdict import Outcome, Verdict
from notifyq.runtime.clock import elapsed

log = logging.getLogger(__name__)
_DICE = random.Random()

NEXT_PROVIDER = frozenset({Outcome.TEMPORARY, Outcome.PROVIDER_FAULT})
"""Verdicts after which the next provider of the chain may be asked: it is certain that nothing was sent."""


@dataclass(frozen=True, slots=True)
class Deliverer:
    """Delivers what a worker holds; one per process, used by all its threads.

    Attributes:
        begin: makes the start of a send durable; False when the notification is no longer ours to send.
        senders: a client's own sending settings, by client id.
        controls: what is paused.
        health: which providers may be called.
        send_timeouts: of single channels, none longer than `send_timeout_seconds`, which is for the others.
    """

    chains: Chains
    backoff: Backoff
    send_timeout_seconds: float
    begin: Callable[[Held, Provider], bool]
    senders: Callable[[UUID], Mapping[str, str]]
    controls: Controls
    health: Health = field(default_factory=Health)
    send_timeouts: Mapping[Channel, float] = field(default_factory=dict)

    def deliver(self, held: Held) -> Finished:
        """Make one attempt. Never raises: a bug in an adapter, of any kind, is a dead letter of this one notification
        (whether it was sent is then unknown)."""
        hops: list[Hop] = []
        try:
            return self._attempt(held, hops)
        except BaseException as error:  # noqa: BLE001 (top of the attempt: nothing may end a delivery thread)
            log.error(  # noqa: TRY400 (the traceback's values may hold a body or a recipient)
                "adapter_failed",
                extra={"notification_id": str(held.claimed.id), "error": type(error).__name__, "at": where(error)},
            )
            provider = hops[-1].provider if hops else ""
            return Finished(held, outcome.after_bug(held.claimed.standing, error, provider=provider), tuple(hops))

    def _attempt(self, held: Held, hops: list[Hop]) -> Finished:
        claimed = held.claimed
        chain = self.chains[claimed.channel].serving(claimed.recipient)
        if not chain.providers:
            return Finished(held, outcome.no_provider(claimed.standing))
        planned = route(chain, claimed.standing, claimed.unconfirmed_age_seconds, cycle=claimed.cycle)
        if not planned.providers:
            return self._unsendable(held, planned)
        sender = self.senders(claimed.client_id)
        passed_over: list[Provider] = []
        for provider in planned.providers:
            if self.controls.stop_provider(provider):
                continue
            ticket = self.health.admit(claimed.channel, provider, sender)
            if ticket is None:
                passed_over.append(provider)
                continue
            if not self._may_begin(held, chain, ticket):
                self.health.cancel(ticket)
                return self._concluded(held, hops) if hops else self._unstarted(held)
            self._call(held, ticket, sender, hops)
            if hops[-1].verdict.outcome not in NEXT_PROVIDER:
                break
        return self._concluded(held, hops) if hops else self._unstarted(held, passed_over)

    def _may_begin(self, held: Held, chain: Chain, ticket: Ticket) -> bool:
        """The last look before a send: not paused, in time, long enough in the lease, and, where that matters, on
        record."""
        provider = ticket.provider
        if not self._is_free_to_go(held, provider):
            return False
        # Afterwards it is looked again, since putting it on record may have taken a while.
        recorded = not chain.records_start(provider) or (
            self.begin(held, provider) and self._is_free_to_go(held, provider)
        )
        return recorded and elapsed() < ticket.good_until

    def _is_free_to_go(self, held: Held, provider: Provider) -> bool:
        if self.controls.stop(held) or self.controls.stop_provider(provider):
            return False
        return not held.is_past_ttl() and held.usable_seconds() >= self._usual_timeout_seconds(held.claimed.channel)

    def _call(self, held: Held, ticket: Ticket, sender: Mapping[str, str], hops: list[Hop]) -> None:
        provider = ticket.provider
        message = message_of(held, dict(sender))
        started = elapsed()
        try:
            verdict = _checked(provider.send(message, timeout_seconds=self._timeout_seconds(ticket)))
        except BaseException as error:
            unknown = Verdict.unconfirmed(outcome.BUG, outcome.bug_text(error))
            hops.append(Hop(provider.name, unknown, started, elapsed()))
            self.health.report(ticket, unknown, bug=True)
            raise
        hops.append(Hop(provider.name, verdict, started, elapsed()))
        self.health.report(ticket, verdict, is_personal=bool(sender))

    def _timeout_seconds(self, ticket: Ticket) -> float:
        usual = self._usual_timeout_seconds(ticket.channel)
        return usual if ticket.probe is None else min(usual, PROBE_TIMEOUT_SECONDS)

    def _usual_timeout_seconds(self, channel: Channel) -> float:
        return self.send_timeouts.get(channel, self.send_timeout_seconds)

    def _unstarted(self, held: Held, passed_over: Sequence[Provider] = ()) -> Finished:
        """Args: passed_over: those that it could have gone to, had they been available."""
        if held.is_past_ttl():
            return Finished(held, self._out_of_time(held))
        decision = self._put_off(held, passed_over) or outcome.given_back(held.claimed.standing)
        return Finished(held, decision, give_back=True)

    def _put_off(self, held: Held, passed_over: Sequence[Provider]) -> Decision | None:
        """What only waits for its turn at a provider goes back to its place: the claim takes no more than can be sent.
        It is put off while a breaker is open, and when it could not go elsewhere whatever the claim takes."""
        if not passed_over:
            return None
        channel, standing = held.claimed.channel, held.claimed.standing
        broken = any(self.health.is_open(channel, provider.name) for provider in passed_over)
        # Where others of the chain serve other addresses, the claim cannot know what may be sent of this kind.
        chain = self.chains[channel]
        of_a_kind = len(chain.serving(held.claimed.recipient).providers) < len(chain.providers)
        if not (broken or of_a_kind or standing.unconfirmed_provider):
            return None
        waits = [self.health.wait_for(channel, provider.name) for provider in passed_over]
        first = min(waits, key=lambda wait: wait.at_least_seconds)
        return outcome.unavailable(standing, first.draw(_DICE))

    def _out_of_time(self, held: Held) -> outcome.Decision:
        standing = held.claimed.standing
        in_doubt = self.chains[held.claimed.channel].named(standing.unconfirmed_provider)
        wait = ask_wait_seconds(in_doubt, held.claimed.unconfirmed_age_seconds)
        return outcome.out_of_time(standing) if wait is None else outcome.to_be_asked(standing, wait)

    def _unsendable(self, held: Held, planned: Route) -> Finished:
        standing = held.claimed.standing
        if planned.ask_wait_seconds is None:
            return Finished(held, outcome.held(standing))
        return Finished(held, outcome.to_be_asked(standing, planned.ask_wait_seconds))

    def _concluded(self, held: Held, hops: list[Hop]) -> Finished:
        last = hops[-1]
        if last.verdict.outcome is Outcome.ACCEPTED:  # whatever went before
            return Finished(held, outcome.accepted(last.verdict, last.provider), tuple(hops))
        chain = self.chains[held.claimed.channel]
        provider = chain.named(last.provider)
        unsure = last.verdict.outcome is Outcome.UNCONFIRMED
        in_doubt = chain.named(last.provider if unsure else held.claimed.standing.unconfirmed_provider)
        decision = outcome.after_verdict(
            held.claimed.standing,
            last.verdict,
            provider=last.provider,
            may_send_again=provider is not None and may_send_again(provider, held.claimed.unconfirmed_age_seconds),
            knows_key=provider is not None and provider.capabilities.dedupes,
            backoff=self.backoff,
            dice=_DICE,
            at_least_seconds=max(hop.verdict.retry_after_seconds or 0.0 for hop in hops),
            ask_wait_seconds=ask_wait_seconds(in_doubt, held.claimed.unconfirmed_age_seconds),
        )
        return Finished(held, decision, tuple(hops))


def _checked(verdict: object) -> Verdict:
    """Adapters are written by many hands."""
    if not isinstance(verdict, Verdict):
        raise TypeError(f"a {type(verdict).__name__} instead of a verdict")
    return verdict
