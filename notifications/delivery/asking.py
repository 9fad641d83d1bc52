"""One question to a provider about a send in doubt. Runs in a thread without database connection."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field

from notifications.delivery.bugs import where
from notifications.outcome import BUG, bug_text
from notifications.providers.base import Message, Provider
from notifications.queue import Asking
from notifications.reconciliation import NOT_ASKABLE, NOT_ASKABLE_SECONDS, Doubt
from notifications.verdict import Finding
from notifyq.runtime.clock import elapsed

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Question:
    """A notification that was taken to be asked about, and its provider.

    Attributes:
        provider: None when the one that may have it cannot be asked.
        taken: when it was taken, on the worker's clock.
    """

    asking: Asking
    provider: Provider | None
    sender: Mapping[str, str] = field(repr=False)
    taken: float

    @property
    def provider_name(self) -> str:
        return self.asking.standing.unconfirmed_provider

    def doubt(self) -> Doubt:
        """How it stands now."""
        lookup = None if self.provider is None else self.provider.capabilities.lookup
        horizon_seconds = NOT_ASKABLE_SECONDS if lookup is None else lookup.horizon_seconds
        passed = elapsed() - self.taken
        ttl_seconds = self.asking.ttl_seconds
        return Doubt(
            standing=self.asking.standing,
            asked_count=self.asking.asked_count,
            seconds_left=horizon_seconds - self.asking.age_seconds - passed,
            is_past_ttl=ttl_seconds is not None and ttl_seconds <= passed,
        )

    def ask(self, timeout_seconds: float) -> Finding:
        """The provider's answer. Never raises: a bug in an adapter proves nothing about the send."""
        if self.provider is None:
            return Finding.unknown(NOT_ASKABLE, "it is no longer in the chain, or cannot be asked any more")
        try:
            message = _message(self.asking, self.sender)
            return _checked(self.provider.look_up(message, since=self.asking.since, timeout_seconds=timeout_seconds))
        except BaseException as error:  # noqa: BLE001 (nothing may end the thread that asks)
            log.error(  # noqa: TRY400 (the traceback's values may hold a body or a recipient)
                "look_up_failed",
                extra={
                    "notification_id": str(self.asking.id),
                    "provider": self.provider_name,
                    "error": type(error).__name__,
                    "at": where(error),
                },
            )
            return Finding.unknown(BUG, bug_text(error))


def _message(asking: Asking, sender: Mapping[str, str]) -> Message:
    return Message(
        id=asking.id,
        channel=asking.channel,
        recipient=asking.recipient,
        attempt_number=asking.standing.attempt_number,
        sender=sender,
        **asking.content,
    )


def _checked(finding: object) -> Finding:
    """Adapters are written by many hands."""
    if not isinstance(finding, Finding):
        raise TypeError(f"a {type(finding).__name__} instead of a finding")
    return finding
