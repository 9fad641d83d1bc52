"""Access tokens of a service account: kept for the process, renewed before they end, by one thread at a time.

No message is on its way while a token is fetched, so no trouble here can be UNCONFIRMED.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field

from notifications.providers.http import Answer, status_verdict
from notifications.providers.push.google_account import ServiceAccount
from notifications.verdict import Outcome, Verdict
from notifyq.runtime.clock import elapsed

GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
RENEW_BEFORE_SECONDS = 300.0
"""So long before its end a token is renewed, while it still serves the other threads."""
UNUSABLE_BEFORE_SECONDS = 10.0
RENEW_AGAIN_SECONDS = 30.0
"""After a renewal that failed, the next is tried no sooner."""
YOUNG_SECONDS = 60.0
LIFETIME_MAX_SECONDS = 86_400.0
_ERROR = re.compile(r"[a-z][a-z0-9_]{0,39}")

Post = Callable[[str, dict[str, str], float], Answer | Verdict]
"""(URL, form, timeout in seconds) → the answer, or what went wrong on the network."""


@dataclass(frozen=True, slots=True)
class Token:
    """One access token, with its instants on `elapsed`."""

    value: str = field(repr=False)
    fetched: float
    renew: float
    ends: float


class AccessTokens:
    """Used by many threads at once.

    Args:
        post: makes one POST of a form, within a time.
    """

    def __init__(self, account: ServiceAccount, post: Post) -> None:
        self._account = account
        self._post = post
        self._lock = threading.Lock()
        self._token: Token | None = None
        self._fetching: Future[Token | Verdict] | None = None
        self._renew_after = 0.0

    def get(self, timeout_seconds: float) -> Token | Verdict:
        """A token that can be used now, or why there is none.

        Args:
            timeout_seconds: bound on the wait, for oneself or for the thread that is fetching already.
        """
        with self._lock:
            now = elapsed()
            token = self._token if self._token and now < self._token.ends else None
            if token and (now < token.renew or now < self._renew_after or self._fetching):
                return token
            waiting, own = self._fetching, Future[Token | Verdict]()
            self._fetching = waiting or own
        if waiting is None:
            fetched = self._fetch(own, timeout_seconds)
            return token if token and isinstance(fetched, Verdict) else fetched
        try:
            return waiting.result(timeout=max(0.0, timeout_seconds))
        except TimeoutError:
            return Verdict.temporary("token_read_timeout", "no access token came in time; nothing was sent")

    def refused(self, token: Token) -> bool:
        """The vendor does not take it: forget it. Returns whether another one may do better."""
        with self._lock:
            if self._token is token:
                self._token = None
        return elapsed() - token.fetched > YOUNG_SECONDS

    def _fetch(self, fetching: Future[Token | Verdict], timeout_seconds: float) -> Token | Verdict:
        """As the one thread that does; the others wait for what comes of it."""
        fetched: Token | Verdict = Verdict.temporary("token_unknown", "no access token could be asked for")
        try:
            fetched = self._ask(timeout_seconds)
        finally:
            with self._lock:
                self._fetching = None
                if isinstance(fetched, Token):
                    self._token = fetched
                else:
                    self._renew_after = elapsed() + RENEW_AGAIN_SECONDS
            fetching.set_result(fetched)
        return fetched

    def _ask(self, timeout_seconds: float) -> Token | Verdict:
        asked = elapsed()
        form = {"grant_type": GRANT, "assertion": self._account.assertion(time.time())}
        answer = self._post(self._account.token_url, form, timeout_seconds)
        if isinstance(answer, Verdict):
            return _not_sent(answer)
        return _token(answer, asked) or _refusal(answer)


def _token(answer: Answer, asked: float) -> Token | None:
    fields = answer.fields()
    value, lifetime = fields.get("access_token"), fields.get("expires_in")
    if answer.status != 200 or not isinstance(value, str) or not value.isascii() or not value.isprintable():
        return None
    if not value or isinstance(lifetime, bool) or not isinstance(lifetime, int | float) or not lifetime > 0:
        return None
    seconds = min(float(lifetime), LIFETIME_MAX_SECONDS)
    renew = max(seconds - RENEW_BEFORE_SECONDS, seconds / 2)
    ends = max(seconds - UNUSABLE_BEFORE_SECONDS, seconds / 2)
    return Token(value, fetched=asked, renew=asked + renew, ends=asked + ends)


def _refusal(answer: Answer) -> Verdict:
    """Source: RFC 6749 section 5.2: what is wrong with the account or its assertion is a 400 or 401 with an `error`."""
    error = answer.fields().get("error")
    if answer.status in (400, 401) and isinstance(error, str):
        # The code goes into logs: only one of RFC 6749's form does.
        code = f"token_{error}" if _ERROR.fullmatch(error) else f"token_http_{answer.status}"
        return Verdict.provider_fault(code, answer.telling("the service account is refused an access token"))
    return _not_sent(status_verdict(answer))


def _not_sent(verdict: Verdict) -> Verdict:
    """The same for a message that was not even begun."""
    code, text = f"token_{verdict.error_code}", f"no access token: {verdict.error_message}"
    if verdict.outcome is Outcome.PROVIDER_FAULT:
        return Verdict.provider_fault(code, text)
    return Verdict.temporary(code, text, retry_after_seconds=verdict.retry_after_seconds, throttled=verdict.throttled)
