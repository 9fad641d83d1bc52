"""Which providers an attempt may use. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from notifications.channel import OnUnconfirmed
from notifications.outcome import Standing
from notifications.providers.base import Provider
from notifications.providers.chains import Chain


@dataclass(frozen=True, slots=True)
class Route:
    """The providers to try, in order. None at all: it may not be sent again, and is held for a person."""

    providers: tuple[Provider, ...]


def route(chain: Chain, standing: Standing, unconfirmed_age_seconds: float | None) -> Route:
    """An attempt that may have been sent stays with its provider: anybody else would send the second copy.

    Args:
        unconfirmed_age_seconds: since the first attempt that may have been sent.
    """
    if not standing.unconfirmed_provider:
        return Route(chain.providers)
    bound = chain.named(standing.unconfirmed_provider)
    if bound and may_send_again(bound, unconfirmed_age_seconds):
        return Route((bound,))
    if standing.on_unconfirmed is OnUnconfirmed.HOLD:
        return Route(())
    return Route((bound,) if bound else chain.providers)


def may_send_again(provider: Provider, unconfirmed_age_seconds: float | None) -> bool:
    """Whether a repeat under the same key is certainly dropped: the provider does that, and its window is open."""
    window = provider.capabilities.dedupe_window_seconds
    return window is not None and (unconfirmed_age_seconds or 0.0) < window
