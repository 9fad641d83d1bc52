"""The one typed reader of the environment: every setting is read here, checked at start-up and documented by name."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar, TypeVar

import environ

from notifications.breaker import BreakerRule
from notifications.channel import INBOX, Channel, OnUnconfirmed
from notifications.errors import ConfigurationError
from notifications.providers.instance_names import check_apart, check_name
from notifications.receipts.addresses import checked_base
from notifications.receipts.registry import RECEIVERS
from notifications.url_parts import split_url
from notifyq.provider_health import breaker_rules, provider_rates
from notifyq.runtime import numerals

PREFIX = "NOTIFYQ_"
T = TypeVar("T")
POLL_LEAST_SECONDS = 0.05  # more often, and an idle worker is a busy one
TIMEOUT_LEAST_SECONDS = 0.1  # in less, no call to another machine can be relied on to end
_SMS_SEGMENTS_MOST = 49  # what the longest body that a text message may have needs at most
# What stands in the message about an address that is missing, by its scheme.
_EXAMPLES = {
    "smtp": "smtp://user:password@host:587",
    "http": "http://host:port",
    "https": "https://host",
}


class Environment:
    """Reads variables by name; each method raises `ConfigurationError` with one line that names the variable.

    Implements `notifications.providers.base.ProviderSettings`. `read` collects every name asked for, so that a test
    can hold the list against the documentation.
    """

    read: ClassVar[set[str]] = set()

    def __init__(self, variables: Mapping[str, str] | None = None, prefix: str = PREFIX) -> None:
        self._env = environ.FileAwareEnv()
        self._env.ENVIRON = os.environ if variables is None else variables
        self._prefix = prefix

    def text(self, name: str, default: str | None = None) -> str:
        return self._value(name, str, default, "text")

    def flag(self, name: str, default: bool | None = None) -> bool:
        raw = self.text(name, "" if default is None else str(default)).strip().lower()
        if raw in ("true", "1", "yes", "on"):
            return True
        if raw in ("false", "0", "no", "off"):
            return False
        raise self._wrong(name, "must be true or false")

    def number(
        self,
        name: str,
        default: float | None = None,
        *,
        least: float = 0.0,
        most: float = 1e9,
        above: float | None = None,
    ) -> float:
        value = self._value(name, numerals.number, default, "a number")
        if not math.isfinite(value):
            raise self._wrong(name, "must be a finite number")
        if value < least or value > most or (above is not None and value <= above):
            low = f"more than {above:g}" if above is not None else f"at least {least:g}"
            raise self._wrong(name, f"must be {low} and at most {most:g}, not {value:g}")
        return value

    def whole(self, name: str, default: int | None = None, *, least: int = 0, most: int = 10**9) -> int:
        value = self._value(name, numerals.whole, default, "a whole number")
        if not least <= value <= most:
            raise self._wrong(name, f"must be from {least} to {most}, not {value}")
        return value

    def choice(self, name: str, options: tuple[str, ...], default: str | None = None) -> str:
        value = self.text(name, default).strip().upper()
        if value not in options:
            raise self._wrong(name, f"must be one of {', '.join(options)}")
        return value

    def names(self, name: str, default: str = "") -> tuple[str, ...]:
        """A comma-separated list, empty items dropped."""
        return tuple(item.strip() for item in self.text(name, default).split(",") if item.strip())

    def origins(self, name: str) -> tuple[str, ...]:
        """A comma-separated list of origins, each with its scheme and nothing behind the host and port."""
        found = self.names(name)
        for origin in found:
            parts = split_url(origin, ("http", "https"))
            if parts is None or origin != f"{parts.scheme}://{parts.netloc}" or parts.username is not None:
                # What stands before an @ may be a password.
                shown = "" if "@" in origin else f", not {origin!r}"
                raise self._wrong(name, f"must be origins such as https://notify.example.com{shown}")
        return found

    def hosts(self, name: str, default: str) -> tuple[str, ...]:
        """A comma-separated list of host names, without scheme, port or path; `*` and `.example.com` are patterns."""
        found = self.names(name, default)
        for host in found:
            bare = host.removeprefix(".")
            parts = split_url(f"http://{bare}", ("http",))
            is_host = parts is not None and parts.netloc == bare and parts.port is None and not set(bare) & set("@*")
            if host != "*" and not is_host:
                raise self._wrong(name, f"must be host names such as notify.example.com, not {host!r}")
        return found

    def url(self, name: str, default: str | None = None, *, schemes: tuple[str, ...] = ("http", "https")) -> str:
        value = self._value(name, str, default, "a URL", example=_EXAMPLES.get(schemes[0], "")).strip()
        if split_url(value, schemes) is None:
            # The value itself may hold a password, so it is not repeated here.
            raise self._wrong(name, f"must be a URL that starts with {' or '.join(s + '://' for s in schemes)}")
        return value

    def has(self, name: str) -> bool:
        self.read.add(self._prefix + name)
        return bool(self._env.ENVIRON.get(self._prefix + name, ""))

    def _value(self, name: str, cast: Callable[[str], T], default: T | None, kind: str, *, example: str = "") -> T:
        full = self._prefix + name
        self.read.add(full)
        if self._env.ENVIRON.get(full, "") == "" and full + "_FILE" not in self._env.ENVIRON:
            if default is None:
                such_as = f" such as {example}" if example else ""
                wanted = "has no default" if kind == "text" else f"must be {kind}{such_as}"
                raise ConfigurationError(f"{full} is not set; it {wanted}")
            return default
        try:
            value = str(self._env.get_value(full))
            value.encode()  # what is no UTF-8 fails here, and not when it is first used
            return cast(value)
        except (ValueError, environ.ImproperlyConfigured):
            file = self._env.ENVIRON.get(f"{full}_FILE", "")
            if file and not os.access(file, os.R_OK):
                raise ConfigurationError(f"{full}_FILE names a file that cannot be read: {file}") from None
            raise self._wrong(name, f"must be {kind}") from None

    def _wrong(self, name: str, problem: str) -> ConfigurationError:
        return ConfigurationError(f"{self._prefix}{name} {problem}")


@dataclass(frozen=True, slots=True)
class Config:
    """The product's own settings, checked. Durations are seconds; see docs/configuration.md for each."""

    max_attempts: Mapping[Channel, int]
    on_unconfirmed: Mapping[Channel, OnUnconfirmed]
    provider_chains: Mapping[Channel, tuple[str, ...]]
    breaker_rules: Mapping[str, BreakerRule]
    provider_rates: Mapping[str, float]
    backoff_base_seconds: float
    backoff_max_seconds: float
    lookup_backoff_base_seconds: float
    lookup_backoff_max_seconds: float
    rate_limit_count: int
    rate_limit_window_seconds: float
    aging_seconds: float
    requests_per_key_per_minute: int
    request_body_seconds: float
    sms_max_segments: int
    lease_seconds: float
    send_timeouts: Mapping[Channel, float]
    poll_seconds: float
    grace_seconds: float
    wakeup: bool
    webhook_max_attempts: int
    webhook_timeout_seconds: float
    webhook_allow_private_addresses: bool
    receipts_url: str
    receipt_providers: tuple[str, ...]
    metrics_token: str
    ready_needs_worker: bool

    @property
    def send_timeout_seconds(self) -> float:
        """The longest of all channels."""
        return max(self.send_timeouts.values())

    @property
    def worker_silent_after_seconds(self) -> float:
        """The age of a heartbeat beyond which its worker counts as dead."""
        return max(30.0, 3 * self.poll_seconds)

    @classmethod
    def load(cls, env: Environment) -> Config:
        """Read and check everything.

        Raises:
            ConfigurationError: one line that names the first wrong or contradictory setting.
        """
        default_timeout = env.number("SEND_TIMEOUT_SECONDS", 10.0, least=TIMEOUT_LEAST_SECONDS, most=3600)
        default_attempts = env.whole("MAX_ATTEMPTS", 6, least=1, most=20)
        unconfirmed = tuple(OnUnconfirmed)
        default_unconfirmed = env.choice("ON_UNCONFIRMED", unconfirmed, OnUnconfirmed.RETRY)
        chains = {c: _chain(env, c) for c in Channel}
        check_apart((f"NOTIFYQ_{c}_PROVIDERS", name) for c, chain in chains.items() for name in chain)
        providers = sorted({name for chain in chains.values() for name in chain} - {INBOX})
        config = cls(
            max_attempts={c: env.whole(f"MAX_ATTEMPTS_{c}", default_attempts, least=1, most=20) for c in Channel},
            on_unconfirmed={
                c: OnUnconfirmed(env.choice(f"ON_UNCONFIRMED_{c}", unconfirmed, default_unconfirmed)) for c in Channel
            },
            provider_chains=chains,
            breaker_rules=breaker_rules(env, providers),
            provider_rates=provider_rates(env, providers),
            backoff_base_seconds=env.number("BACKOFF_BASE_SECONDS", 1.0, above=0, most=3600),
            backoff_max_seconds=env.number("BACKOFF_MAX_SECONDS", 60.0, above=0, most=86_400),
            lookup_backoff_base_seconds=env.number("LOOKUP_BACKOFF_BASE_SECONDS", 2.0, above=0, most=3600),
            lookup_backoff_max_seconds=env.number("LOOKUP_BACKOFF_MAX_SECONDS", 600.0, above=0, most=86_400),
            rate_limit_count=env.whole("RATE_LIMIT_COUNT", 10, most=1_000_000),
            rate_limit_window_seconds=env.number("RATE_LIMIT_WINDOW_SECONDS", 3600.0, least=1, most=31_622_400),
            aging_seconds=env.number("AGING_SECONDS", 0.0, most=31_622_400),
            requests_per_key_per_minute=env.whole("REQUESTS_PER_KEY_PER_MINUTE", 0, most=1_000_000),
            request_body_seconds=env.number("REQUEST_BODY_SECONDS", 20.0, least=TIMEOUT_LEAST_SECONDS, most=3600),
            sms_max_segments=env.whole("SMS_MAX_SEGMENTS", _SMS_SEGMENTS_MOST, least=1, most=_SMS_SEGMENTS_MOST),
            lease_seconds=env.number("LEASE_SECONDS", 300.0, least=1, most=86_400),
            send_timeouts={
                c: env.number(f"SEND_TIMEOUT_SECONDS_{c}", default_timeout, least=TIMEOUT_LEAST_SECONDS, most=3600)
                for c in Channel
            },
            poll_seconds=env.number("POLL_SECONDS", 1.0, least=POLL_LEAST_SECONDS, most=60),
            grace_seconds=env.number("GRACE_SECONDS", 30.0, least=TIMEOUT_LEAST_SECONDS, most=3600),
            wakeup=env.flag("WAKEUP", default=True),
            webhook_max_attempts=env.whole("WEBHOOK_MAX_ATTEMPTS", 10, least=1, most=50),
            webhook_timeout_seconds=env.number("WEBHOOK_TIMEOUT_SECONDS", 15.0, least=TIMEOUT_LEAST_SECONDS, most=120),
            webhook_allow_private_addresses=env.flag("WEBHOOK_ALLOW_PRIVATE_ADDRESSES", default=False),
            receipts_url=_receipts_url(env),
            receipt_providers=_with_receipts(env, chains),
            metrics_token=env.text("METRICS_TOKEN", ""),
            ready_needs_worker=env.flag("READY_NEEDS_WORKER", default=True),
        )
        config._check_together()
        return config

    def _check_together(self) -> None:
        for channel, seconds in self.send_timeouts.items():
            if seconds >= self.lease_seconds:
                alike = len(set(self.send_timeouts.values())) == 1
                variable = "NOTIFYQ_SEND_TIMEOUT_SECONDS" + ("" if alike else f"_{channel}")
                raise ConfigurationError(
                    f"NOTIFYQ_LEASE_SECONDS ({self.lease_seconds:g}) must be longer than "
                    f"{variable} ({seconds:g}), or no send could ever begin"
                )
        if self.backoff_base_seconds > self.backoff_max_seconds:
            raise ConfigurationError(
                f"NOTIFYQ_BACKOFF_BASE_SECONDS ({self.backoff_base_seconds:g}) must not be more than "
                f"NOTIFYQ_BACKOFF_MAX_SECONDS ({self.backoff_max_seconds:g})"
            )
        if self.lookup_backoff_base_seconds > self.lookup_backoff_max_seconds:
            raise ConfigurationError(
                f"NOTIFYQ_LOOKUP_BACKOFF_BASE_SECONDS ({self.lookup_backoff_base_seconds:g}) must not be more than "
                f"NOTIFYQ_LOOKUP_BACKOFF_MAX_SECONDS ({self.lookup_backoff_max_seconds:g})"
            )


def _receipts_url(env: Environment) -> str:
    """Empty where the address that a request came to is the one that the vendor called."""
    if not env.text("RECEIPTS_URL", "").strip():
        return ""
    return checked_base(env.url("RECEIPTS_URL", schemes=("https", "http")))


def _with_receipts(env: Environment, chains: Mapping[Channel, tuple[str, ...]]) -> tuple[str, ...]:
    """Every provider of a chain, and those that have left it, whose callbacks still come for days."""
    left = env.names("RECEIPT_PROVIDERS")
    for name in left:
        check_name(name, "NOTIFYQ_RECEIPT_PROVIDERS")
        if name.partition(":")[0] not in RECEIVERS:
            raise ConfigurationError(
                f"NOTIFYQ_RECEIPT_PROVIDERS names {name!r}; callbacks are taken of {', '.join(sorted(RECEIVERS))}"
            )
    in_chains = (name for chain in chains.values() for name in chain if name != INBOX)
    return tuple(dict.fromkeys([*in_chains, *left]))


def _chain(env: Environment, channel: Channel) -> tuple[str, ...]:
    if channel is Channel.IN_APP:
        return (INBOX,)  # the service's own tables: there is nothing to choose
    names = env.names(f"{channel}_PROVIDERS", "sandbox")
    if not names:
        raise ConfigurationError(f"NOTIFYQ_{channel}_PROVIDERS must name at least one provider")
    for name in names:
        check_name(name, f"NOTIFYQ_{channel}_PROVIDERS")
    if len(set(names)) != len(names):
        raise ConfigurationError(f"NOTIFYQ_{channel}_PROVIDERS names a provider twice")
    return names
