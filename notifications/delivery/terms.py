"""What a worker's next claim may take, by the health of the providers."""

from __future__ import annotations

from collections.abc import Callable

from notifications.breaker import Wait
from notifications.channel import Channel
from notifications.delivery.health import Health
from notifications.providers.base import Provider
from notifications.providers.chains import Chains
from notifications.queue import NO_TERMS, Terms


def terms_of(
    chains: Chains,
    health: Health,
    is_stopped: Callable[[Provider], bool],
    waiting_count: Callable[[Channel], int],
) -> Terms:
    """What no provider could take now is left where it is, in its place in the order, and is not written.

    Of a channel whose providers are all out, one is taken when the probe of one of them is due. Of a channel that
    hangs on a provider's own rate, as many as may be sent now: providers of several channels are counted for each, and
    what is too much goes back.

    Args:
        is_stopped: whether an operator has paused this provider.
        waiting_count: how many of a channel this worker holds and has not begun.
    """
    if health.is_all_well:
        return NO_TERMS
    most: dict[Channel, int] = {}
    waits: dict[tuple[Channel, str], Wait] = {}
    for channel, chain in chains.items():
        usable = [provider.name for provider in chain.providers if not is_stopped(provider)]
        count = _most(channel, usable, health) if usable else None
        if count is not None:
            most[channel] = max(0, count - waiting_count(channel))
        waits |= {
            (channel, name): health.wait_for(channel, name) for name in usable if not _is_ready(channel, name, health)
        }
    return Terms(most, waits)


def _most(channel: Channel, names: list[str], health: Health) -> int | None:
    """None for as many as there are."""
    open_to_all = [n for n in names if not health.is_open(channel, n) and not health.pace.throttled_seconds(n)]
    if any(name not in health.pace.rates for name in open_to_all):
        return None
    if open_to_all:
        return sum(health.pace.stock(name) for name in open_to_all)
    return int(any(health.is_probe_due(channel, name) for name in names))


def _is_ready(channel: Channel, name: str, health: Health) -> bool:
    """Whether it may be called now, if only with the probe."""
    if health.is_open(channel, name):
        return health.is_probe_due(channel, name)
    return not health.pace.throttled_seconds(name) and (name not in health.pace.rates or health.pace.stock(name) > 0)


def out_of_service(
    chains: Chains, health: Health, is_stopped: Callable[[Provider], bool] = lambda provider: False
) -> frozenset[Channel]:
    """The channels that nothing could be sent on now, not even a probe. One whose rate is used up is none of them."""
    return frozenset(
        channel
        for channel, chain in chains.items()
        if (names := [provider.name for provider in chain.providers if not is_stopped(provider)])
        and all(_is_out(channel, name, health) for name in names)
    )


def _is_out(channel: Channel, name: str, health: Health) -> bool:
    if health.is_open(channel, name):
        return not health.is_probe_due(channel, name)
    return health.pace.throttled_seconds(name) > 0


def rated(chains: Chains, health: Health) -> dict[str, list[Channel]]:
    """The providers with a rate of their own, and the channels that each may be called for now, if only as a probe."""
    found: dict[str, list[Channel]] = {}
    for channel, chain in chains.items():
        for provider in chain.providers:
            if provider.name in health.pace.rates and not _is_out(channel, provider.name, health):
                found.setdefault(provider.name, []).append(channel)
    return found
