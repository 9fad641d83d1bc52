"""Which providers an attempt may use. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from notifications.channel import OnUnconfirmed
from notifications.outcome import Standing
from notifications.providers.base import Provider
from notifications.providers.chains import Chain


@dataclass(frozen=True, slots=True)
class Route:
    """The providers to try, in order. None at all: it may not be sent again, and is held for a person.

    Attributes:
        ask_wait_seconds: instead of holding it, its provider can be asked about it, after so long.
    """

    providers: tuple[Provider, ...]
    ask_wait_seconds: float | None = None


def route(chain: Chain, standing: Standing, unconfirmed_age_seconds: float | None, *, cycle: int = 1) -> Route:
    """An attempt that may have been sent stays with its provider: anybody else would send the second copy.

    Args:
        chain: the providers that serve its address (`Chain.serving`).
        unconfirmed_age_seconds: since the first attempt that may have been sent.
        cycle: more than 1 after an operator's retry.
    """
    if not standing.unconfirmed_provider:
        return Route(chain.providers)
    bound = chain.named(standing.unconfirmed_provider)
    if bound and may_send_again(bound, unconfirmed_age_seconds):
        return Route((bound,))
    if not _operator_asked(standing, bound, cycle):
        if (wait := ask_wait_seconds(bound, unconfirmed_age_seconds)) is not None:
            return Route((), wait)
        if standing.on_unconfirmed is OnUnconfirmed.HOLD:
            return Route(())
    return Route((bound,) if bound else chain.providers)


def may_send_again(provider: Provider, unconfirmed_age_seconds: float | None) -> bool:
    """Whether a repeat under the same key certainly does no harm: the provider drops it, and its window is open, or the
    device collapses the copies."""
    window = provider.capabilities.repeat_window_seconds
    return window is not None and (unconfirmed_age_seconds or 0.0) < window


def ask_wait_seconds(provider: Provider | None, unconfirmed_age_seconds: float | None) -> float | None:
    """How long after a send its provider can be asked what became of it; None when it cannot, or knows no more."""
    lookup = None if provider is None else provider.capabilities.lookup
    return None if lookup is None else lookup.wait_seconds(unconfirmed_age_seconds or 0.0)


def _operator_asked(standing: Standing, bound: Provider | None, cycle: int) -> bool:
    """Whether the person who was to decide has decided for another send.

    In a later cycle, what may have been sent where a repeat is never harmless is from a cycle before: had it
    happened in this one, it would have been held at once. With others it may be from this one, unless nothing has
    been tried in it yet.
    """
    if cycle == 1:
        return False
    if bound is not None and bound.capabilities.repeat_window_seconds is None:
        return True
    return standing.attempt_number == 1 and not standing.suspect
