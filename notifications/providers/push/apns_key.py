"""The signing key of an Apple developer team, and the tokens made with it: kept for the process. No network."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import jwt
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from notifyq.runtime.clock import elapsed

RENEW_SECONDS = 40 * 60.0
RENEW_LEAST_SECONDS = 20 * 60.0
"""A token is renewed no sooner than the one and no later than the other, which leaves a margin to Apple's hour.
Source: Apple, Establishing a token-based connection to APNs, read 2026-11-30 (20 to 60 minutes)."""


@dataclass(frozen=True, slots=True)
class TeamKey:
    """One key of one team. Its `repr` shows no key."""

    key_id: str
    team_id: str
    key: EllipticCurvePrivateKey = field(repr=False)

    def token(self, now: float) -> str:
        """Args: now: seconds since 1970."""
        claims = {"iss": self.team_id, "iat": int(now)}
        return jwt.encode(claims, self.key, algorithm="ES256", headers={"kid": self.key_id})


@dataclass(frozen=True, slots=True)
class Token:
    """Attributes: made: on `elapsed`; issued_at: seconds since 1970, as it says itself."""

    value: str = field(repr=False)
    made: float
    issued_at: float


class TeamTokens:
    """Used by many threads at once.

    Args:
        wall_clock: seconds since 1970.
    """

    def __init__(self, key: TeamKey, wall_clock: Callable[[], float] = time.time) -> None:
        self._key = key
        self._wall_clock = wall_clock
        self._lock = threading.Lock()
        self._token: Token | None = None

    def get(self) -> Token:
        """The token to use now."""
        with self._lock:
            if self._token is None or elapsed() - self._token.made >= RENEW_SECONDS:
                now = self._wall_clock()
                self._token = Token(self._key.token(now), elapsed(), now)
            return self._token

    def expired(self, token: Token) -> bool:
        """Apple says that it is too old. Returns whether another one will do better.

        It will when this one is some age, or the machine's clock has been set since. A young one with the right time
        that is refused says that the clock is wrong: more tokens would only make Apple throttle them.
        """
        with self._lock:
            if self._token is not token:
                return True
            if abs(self._wall_clock() - token.issued_at) < RENEW_LEAST_SECONDS:
                return False
            self._token = None
            return True


def parse_key(pem: str) -> EllipticCurvePrivateKey:
    """Read the `.p8` file that Apple gives out.

    Raises:
        ValueError: what is wrong with it, without anything of what stands in it.
    """
    try:
        key = load_pem_private_key(pem.encode(), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise ValueError("is not a private key in PEM form") from None
    if not isinstance(key, EllipticCurvePrivateKey) or not isinstance(key.curve, SECP256R1):
        raise ValueError("is not a key for ES256, as Apple's are")  # noqa: TRY004 (a value of the settings)
    return key
