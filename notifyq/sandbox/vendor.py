"""The simulated vendor itself: takes one request, decides what becomes of it, remembers, replies."""

from __future__ import annotations

import json
import random
import time
import uuid
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from notifyq.sandbox import replies
from notifyq.sandbox.magic import Magic, recognise
from notifyq.sandbox.replies import Reply
from notifyq.sandbox.reporter import Reporter
from notifyq.sandbox.store import Store, Stored, Writing
from notifyq.sandbox.weather import Weather

CHANNELS = ("EMAIL", "SMS", "PUSH")
_OWN_FIELDS = ("channel", "recipient", "subject", "body")
_REFUSALS_OF_TEMPORARY_TWICE = 2


@dataclass(frozen=True, slots=True)
class Incoming:
    """A request that can be understood."""

    key: str
    channel: str
    recipient: str
    subject: str
    body: str
    extras: Mapping[str, Any]


class Vendor:
    """Safe to call from many threads: what must not race happens inside the store's one transaction."""

    def __init__(self, store: Store, reporter: Reporter | None = None) -> None:
        self.store = store
        self._reporter = reporter
        self._limit = _PerSecond()
        # The weather outlives the process like the messages do: a vendor restarted in a storm is still in it.
        self._weather = Weather.parse(json.loads(store.fact("weather") or "{}"))

    @property
    def weather(self) -> Weather:
        return self._weather

    def set_weather(self, weather: Weather) -> None:
        with self.store.writing() as writing:
            writing.set_fact("weather", json.dumps(weather.document()))
            self._weather = weather

    def receive(self, key: str, content: object) -> Reply:
        """Take one POST: count it, store it where it is accepted, and say how to reply.

        Args:
            key: the Idempotency-Key, empty when there is none.
            content: the decoded JSON body.
        """
        weather = self._weather
        delay = weather.delay_seconds(random.random())
        with self.store.writing() as writing:
            writing.count_request()
            incoming = _understand(key, content)
            reply = incoming if isinstance(incoming, Reply) else self._decide(writing, incoming, weather, delay)
        return reply.after(delay)

    def count_unreadable(self) -> None:
        """Count a POST that could not even be read."""
        with self.store.writing() as writing:
            writing.count_request()

    def look_up(self, key: str) -> Reply:
        """What became of `key`; `pending` while the answer to its POST is still held back."""
        if self._weather.down:
            return replies.problem(503, "down", "The provider is down.")
        if not self._weather.lookup:
            return replies.problem(501, "lookup_not_supported", "This provider cannot be asked about a key.")
        known = self.store.status(key, time.time())
        if known is None:
            return replies.problem(404, "unknown_key", "No message has this key.")
        status, message_id = known
        return replies.document({"key": key, "status": status, "messageId": message_id})

    def empty(self) -> None:
        with self.store.writing() as writing:
            writing.empty()

    def _decide(self, writing: Writing, incoming: Incoming, weather: Weather, delay: float) -> Reply:
        if weather.down:
            # A refusal by name rather than a closed connection: a client could not tell the latter from an answer
            # that was lost, and a provider that is down is meant to be the certain case.
            return replies.not_accepted("The provider is down.")
        if self._limit.passed(weather.rateLimitPerSecond):
            return replies.throttled()
        if known := writing.message_id(incoming.key):
            writing.count_repeat(incoming.key, known if weather.idempotency else "")
            if weather.idempotency:
                return replies.accepted(known)
        magic = recognise(incoming.channel, incoming.recipient)
        if magic is None:
            return self._by_chance(writing, incoming, weather, delay)
        return self._by_magic(writing, incoming, magic, delay)

    def _by_chance(self, writing: Writing, incoming: Incoming, weather: Weather, delay: float) -> Reply:
        draw = random.random()
        if draw < weather.temporaryRate:
            return replies.not_accepted("Try again later.")
        draw -= weather.temporaryRate
        if draw < weather.permanentRate:
            return self._reject(writing, incoming, "content_rejected")
        accepted = self._accept(writing, incoming, delay)
        return replies.CUT if draw - weather.permanentRate < weather.unconfirmedRate else accepted

    def _by_magic(self, writing: Writing, incoming: Incoming, magic: Magic, delay: float) -> Reply:
        match magic:
            case Magic.REJECT:
                return self._reject(writing, incoming, "recipient_rejected")
            case Magic.TEMPORARY:
                return replies.not_accepted("Try again later.")
            case Magic.RATE_LIMIT:
                return replies.throttled()
            case Magic.HANG:
                return replies.HOLD
            case Magic.POISON:
                return replies.poison(writing.count_try(incoming.key))
            case Magic.TEMPORARY_TWICE if writing.count_try(incoming.key) <= _REFUSALS_OF_TEMPORARY_TWICE:
                return replies.not_accepted("Try again later.")
        accepted = self._accept(writing, incoming, delay)
        if magic is Magic.ACCEPT_THEN_TIMEOUT:
            return replies.HOLD
        if magic is Magic.ACCEPT_THEN_500:
            return replies.problem(500, "internal_error", "Something went wrong.")
        return accepted

    def _accept(self, writing: Writing, incoming: Incoming, delay: float) -> Reply:
        now = datetime.now(UTC)
        message = Stored(
            id=str(uuid.uuid4()),
            key=incoming.key,
            channel=incoming.channel,
            recipient=incoming.recipient,
            subject=incoming.subject,
            body=incoming.body,
            accepted_at=now.isoformat(timespec="microseconds").replace("+00:00", "Z"),
            extras=incoming.extras,
        )
        writing.add(message, now.timestamp() + delay)
        if self._reporter is not None:
            self._reporter.report(message, delay)
        return replies.accepted(message.id)

    def _reject(self, writing: Writing, incoming: Incoming, code: str) -> Reply:
        writing.reject(incoming.key)
        return replies.problem(422, code, "This message is refused for good.")


class _PerSecond:
    """Counts the requests of the last second; called inside the store's transaction, so needs no lock of its own."""

    def __init__(self) -> None:
        self._passed: deque[float] = deque()

    def passed(self, limit: float) -> bool:
        """Whether one more request would be over `limit` per second (0: no limit); one that is not is counted."""
        if not limit:
            return False
        now = time.monotonic()
        while self._passed and self._passed[0] <= now - 1:
            self._passed.popleft()
        if len(self._passed) + 1 > limit:
            return True
        self._passed.append(now)
        return False


def _understand(key: str, content: object) -> Incoming | Reply:
    if not 1 <= len(key) <= 255 or not key.isprintable():
        return replies.problem(400, "missing_key", "An Idempotency-Key of 1 to 255 printable characters is required.")
    if not isinstance(content, dict):
        return replies.problem(400, "malformed", "The body must be a JSON object.")
    errors = _errors(content)
    if errors:
        return replies.problem(400, "invalid_message", "The message is not valid.", errors=errors)
    return Incoming(
        key=key,
        channel=content["channel"],
        recipient=content["recipient"],
        subject=content.get("subject") or "",
        body=content.get("body") or "",
        extras={name: value for name, value in content.items() if name not in _OWN_FIELDS and value is not None},
    )


def _errors(content: Mapping[str, object]) -> dict[str, str]:
    errors = {}
    if content.get("channel") not in CHANNELS:
        errors["channel"] = f"must be one of {', '.join(CHANNELS)}"
    recipient = content.get("recipient")
    if not isinstance(recipient, str) or not recipient.strip():
        errors["recipient"] = "is required"
    for name in ("subject", "body"):
        if not isinstance(content.get(name, ""), str | None):
            errors[name] = "must be text"
    if not errors and any(_not_text(str(content.get(name) or "")) for name in _OWN_FIELDS):
        errors["body"] = "holds characters that are no text"
    return errors


def _not_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:  # a lone surrogate, which JSON can spell and no store can keep
        return True
    return False
