"""What follows from an attempt: the one place where verdicts become states. Pure, no database.

Each function takes how the notification stands and what happened, and returns a `Decision`; `notifications.queue`
writes it. Nothing here knows a vendor: the engine asks only whether sending again under the same key is safe.
"""

from __future__ import annotations

import dataclasses
import random
from dataclasses import dataclass

from notifications.channel import OnUnconfirmed
from notifications.retry import Backoff
from notifications.status import FINAL, Status, WaitingReason
from notifications.verdict import Outcome, Verdict

BUG = "bug"
LOST = "lost"
EXPIRED = "expired"
UNCONFIRMED = "UNCONFIRMED"
NOT_DELIVERED = "not_delivered"
NOT_RECEIVED = "not_received"
NO_PROVIDER = "no_provider_for_address"
"""Reasons of our own, beside the vendors' codes. UNCONFIRMED: it may have been sent, a person has to decide.
NOT_DELIVERED: that person found that it was not. NOT_RECEIVED: its provider was asked, and never had it.
NO_PROVIDER: nobody in the chain serves an address of its kind."""

UNCONFIRMED_TEXT = "it may have been sent: the provider's answer was lost"
EXPIRED_TEXT = "its time to live ended before it could be sent"
_LOST_TEXT = "the worker that held it died"


@dataclass(frozen=True, slots=True)
class Standing:
    """How a held notification stands.

    Attributes:
        attempt_number: of the attempt in hand, from 1.
        max_attempts: how many are counted in all.
        on_unconfirmed: what its client wants when nobody can say.
        unconfirmed_provider: where an earlier attempt is open that may have been sent; empty when none.
        final_check: the attempt in hand is the one extra send after the last was lost.
        suspect: it was claimed alone, because a worker died while holding it.
    """

    attempt_number: int
    max_attempts: int
    on_unconfirmed: OnUnconfirmed = OnUnconfirmed.RETRY
    unconfirmed_provider: str = ""
    final_check: bool = False
    suspect: bool = False

    @property
    def attempts_left(self) -> bool:
        return self.attempt_number < self.max_attempts and not self.final_check

    @property
    def uncounted(self) -> int:
        """What giving this attempt back takes off the count: the final check was never counted."""
        return 0 if self.final_check else 1


@dataclass(frozen=True, slots=True)
class Decision:
    """Where a notification goes when its lease ends.

    Attributes:
        status: the next state.
        wait_seconds: until it is due again, from now; None leaves its due time alone.
        refund: attempts given back, 0 or 1.
        suspect: it has to be claimed alone from here on.
        final_check: its next claim is the one extra send.
        unconfirmed_provider: where an attempt stays open that may have been sent.
        not_sent: the attempt in hand certainly sent nothing, so what it took of a rate limit is given back.
    """

    status: Status
    waiting_reason: WaitingReason | None = None
    wait_seconds: float | None = None
    refund: int = 0
    error_code: str = ""
    error_message: str = ""
    provider: str = ""
    provider_message_id: str = ""
    unconfirmed_provider: str = ""
    suspect: bool = False
    final_check: bool = False
    not_sent: bool = False

    @property
    def is_final(self) -> bool:
        return self.status in FINAL


def after_verdict(
    standing: Standing,
    verdict: Verdict,
    *,
    provider: str,
    may_send_again: bool,
    backoff: Backoff,
    dice: random.Random,
    at_least_seconds: float = 0.0,
    knows_key: bool = True,
    ask_wait_seconds: float | None = None,
) -> Decision:
    """The attempt has a verdict.

    Args:
        provider: who gave it.
        may_send_again: a repeat under the same key does no harm there (now).
        at_least_seconds: the longest Retry-After that was heard in this attempt.
        knows_key: a repeat is harmless since the provider knows our key, and not since devices collapse copies. What
            it says of a repeat it then says of the copies before.
        ask_wait_seconds: the provider of the send in doubt can be asked about it, after so long; None when it cannot.
    """
    if verdict.outcome is Outcome.ACCEPTED:
        return accepted(verdict, provider)
    if verdict.outcome is Outcome.REJECTED and standing.unconfirmed_provider and not (may_send_again and knows_key):
        # A provider that does not know our key refuses this copy; that says nothing of the earlier one.
        if ask_wait_seconds is not None:
            return _to_be_asked(verdict, standing.unconfirmed_provider, ask_wait_seconds, not_sent=True)
        return _dead_letter(verdict.error_code, verdict.error_message, standing.unconfirmed_provider, not_sent=True)
    if verdict.outcome is Outcome.REJECTED:
        return Decision(
            Status.FAILED, error_code=verdict.error_code, error_message=verdict.error_message, not_sent=True
        )
    not_sent = verdict.outcome is not Outcome.UNCONFIRMED
    open_at = provider if verdict.outcome is Outcome.UNCONFIRMED else standing.unconfirmed_provider
    repeatable = not_sent or may_send_again
    if open_at and ask_wait_seconds is not None and not (standing.attempts_left and repeatable):
        return _to_be_asked(verdict, open_at, max(ask_wait_seconds, at_least_seconds), not_sent=not_sent)
    if not (standing.attempts_left and (repeatable or wants_retry(standing))):
        return _dead_letter(verdict.error_code, verdict.error_message, open_at, not_sent=not_sent)
    wait = backoff.wait_seconds(standing.attempt_number, at_least_seconds=at_least_seconds, dice=dice)
    return Decision(
        Status.PENDING,
        WaitingReason.RETRY_BACKOFF,
        wait,
        error_code=verdict.error_code,
        error_message=verdict.error_message,
        unconfirmed_provider=open_at,
        not_sent=not_sent,
    )


def accepted(verdict: Verdict, provider: str) -> Decision:
    """The vendor's proof is in the answer, however the notification stands."""
    return Decision(Status.SENT, provider=provider, provider_message_id=verdict.provider_message_id)


def after_loss(
    standing: Standing, *, provider: str, begun: bool, may_send_again: bool, ask_wait_seconds: float | None = None
) -> Decision:
    """Its worker died, or its lease ran out: nobody knows how the attempt ended.

    An attempt lost in company is given back, since any of its neighbours may have killed the worker; one lost alone
    counts. So a poison uses up its attempts and its neighbours lose nothing.

    Args:
        provider: where a send was, or may have been, begun; empty when that is unknown.
        begun: a send may have been begun. False only when it is known that none was.
        may_send_again: a repeat under the same key does no harm there.
        ask_wait_seconds: that provider can be asked about it, after so long; None when it cannot.
    """
    refund = 0 if standing.suspect else standing.uncounted
    open_at = provider if begun else standing.unconfirmed_provider
    safe = not begun or may_send_again
    if not safe and ask_wait_seconds is not None:
        return _lost_and_to_be_asked(refund, open_at, ask_wait_seconds)
    if not safe and not wants_retry(standing):
        return _dead_letter(LOST, _LOST_TEXT, open_at)
    if refund or standing.attempts_left:
        return _alone(refund, open_at, not_sent=not begun)
    if begun and may_send_again and not standing.final_check:
        return _alone(0, open_at, final_check=True)
    if open_at and ask_wait_seconds is not None:
        return _lost_and_to_be_asked(0, open_at, ask_wait_seconds, not_sent=not begun)
    return _dead_letter(LOST, _LOST_TEXT, open_at, not_sent=not begun)


def given_back(standing: Standing) -> Decision:
    """The worker did not start it: the attempt is not counted and its place in the order is kept."""
    return Decision(
        Status.PENDING,
        refund=standing.uncounted,
        unconfirmed_provider=standing.unconfirmed_provider,
        suspect=standing.suspect,
        final_check=standing.final_check,
        not_sent=True,
    )


def unavailable(standing: Standing, wait_seconds: float) -> Decision:
    """No provider that it may go to can be called now: it waits, uncounted."""
    return dataclasses.replace(
        given_back(standing), waiting_reason=WaitingReason.PROVIDER_UNAVAILABLE, wait_seconds=wait_seconds
    )


def out_of_time(standing: Standing) -> Decision:
    """Its time to live ended before the send in hand was begun."""
    if standing.unconfirmed_provider:
        return _dead_letter(
            EXPIRED, UNCONFIRMED_TEXT, standing.unconfirmed_provider, refund=standing.uncounted, not_sent=True
        )
    return Decision(
        Status.EXPIRED,
        refund=standing.uncounted,
        error_code=EXPIRED,
        error_message=EXPIRED_TEXT,
        not_sent=True,
    )


def held(standing: Standing) -> Decision:
    """It may have been sent, sending again is not safe, and its client wants a person to decide."""
    return _dead_letter(
        UNCONFIRMED, UNCONFIRMED_TEXT, standing.unconfirmed_provider, refund=standing.uncounted, not_sent=True
    )


def to_be_asked(standing: Standing, wait_seconds: float) -> Decision:
    """It may have been sent and sending again is not safe, but its provider can be asked, after so long."""
    return Decision(
        Status.RECONCILING,
        wait_seconds=wait_seconds,
        refund=standing.uncounted,
        error_code=UNCONFIRMED,
        error_message=UNCONFIRMED_TEXT,
        unconfirmed_provider=standing.unconfirmed_provider,
        suspect=standing.suspect,
        not_sent=True,
    )


def no_provider(standing: Standing) -> Decision:
    """Nobody in the chain serves an address of its kind. An operator can change that and retry it; by itself it would
    wait for ever."""
    text = "no provider of the chain serves addresses of this kind"
    return _dead_letter(NO_PROVIDER, text, standing.unconfirmed_provider, refund=standing.uncounted, not_sent=True)


def after_bug(standing: Standing, error: BaseException, *, provider: str = "") -> Decision:
    """Our own code failed in the attempt. A retry would only hide that.

    Args:
        provider: the one whose adapter failed in the middle of a call, which may have gone out; empty when none.
    """
    return Decision(
        Status.DEAD_LETTERED,
        error_code=BUG,
        error_message=bug_text(error),
        unconfirmed_provider=provider or standing.unconfirmed_provider,
    )


def bug_text(error: BaseException) -> str:
    """Names the error, not its words, which may hold a recipient."""
    return f"{type(error).__name__} in the adapter"


def proved(decision: Decision, provider_message_id: str) -> Decision:
    """The provider at which an attempt stayed open has reported that it took the message."""
    return Decision(Status.SENT, provider=decision.unconfirmed_provider, provider_message_id=provider_message_id)


def wants_retry(standing: Standing) -> bool:
    return standing.on_unconfirmed is OnUnconfirmed.RETRY


def _to_be_asked(verdict: Verdict, open_at: str, wait_seconds: float, *, not_sent: bool) -> Decision:
    return Decision(
        Status.RECONCILING,
        wait_seconds=wait_seconds,
        error_code=verdict.error_code,
        error_message=verdict.error_message,
        unconfirmed_provider=open_at,
        not_sent=not_sent,
    )


def _lost_and_to_be_asked(refund: int, open_at: str, wait_seconds: float, *, not_sent: bool = False) -> Decision:
    """Should it turn out never to have been sent, it is tried alone, like whatever was lost."""
    return Decision(
        Status.RECONCILING,
        wait_seconds=wait_seconds,
        refund=refund,
        error_code=LOST,
        error_message=_LOST_TEXT,
        unconfirmed_provider=open_at,
        suspect=True,
        not_sent=not_sent,
    )


def _alone(refund: int, open_at: str, *, final_check: bool = False, not_sent: bool = False) -> Decision:
    return Decision(
        Status.PENDING,
        refund=refund,
        error_code=LOST,
        error_message=_LOST_TEXT,
        unconfirmed_provider=open_at,
        suspect=True,
        final_check=final_check,
        not_sent=not_sent,
    )


def _dead_letter(code: str, message: str, open_at: str, *, refund: int = 0, not_sent: bool = False) -> Decision:
    """Where an attempt is open that may have been sent, that is the reason an operator has to see."""
    if open_at:
        code, message = UNCONFIRMED, message or UNCONFIRMED_TEXT
    return Decision(
        Status.DEAD_LETTERED,
        refund=refund,
        error_code=code,
        error_message=message,
        unconfirmed_provider=open_at,
        not_sent=not_sent,
    )
