"""What follows from an attempt at a webhook: the one place where answers become states. Pure, no database."""

from __future__ import annotations

import random
from dataclasses import dataclass

from webhooks.schedule import wait_seconds
from webhooks.status import EventStatus

GONE = 410
BUG = "bug"
LOST = "lost"


@dataclass(frozen=True, slots=True)
class Standing:
    """How a held event stands.

    Attributes:
        attempt_number: of the attempt in hand, from 1.
        suspect: a dispatcher died once before while it held this event.
    """

    attempt_number: int
    max_attempts: int
    suspect: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of one call.

    Attributes:
        status: of the answer; None when none came.
        error_code: stable, for programs; empty after a 2xx.
        excerpt: the beginning of the answer's body, as text.
        retry_after_seconds: the endpoint's wish, or None.
    """

    status: int | None
    error_code: str = ""
    excerpt: str = ""
    retry_after_seconds: float | None = None

    @property
    def succeeded(self) -> bool:
        return self.status is not None and 200 <= self.status < 300


@dataclass(frozen=True, slots=True)
class Decision:
    """Where an event goes when its lease ends.

    Attributes:
        wait_seconds: until it is due again; None leaves `due_at` as it was.
        refund: 1 when the attempt does not count.
        endpoint_gone: the endpoint wants no more events.
    """

    status: EventStatus
    error_code: str = ""
    response_status: int | None = None
    wait_seconds: float | None = None
    refund: int = 0
    suspect: bool = False
    endpoint_gone: bool = False


def after_reply(standing: Standing, reply: Reply, dice: random.Random) -> Decision:
    """2xx is delivered, 410 ends the endpoint, everything else is tried again while there are attempts."""
    if reply.succeeded:
        return Decision(EventStatus.DELIVERED, response_status=reply.status)
    if reply.status == GONE:
        return Decision(EventStatus.CANCELLED, reply.error_code, reply.status, endpoint_gone=True)
    if standing.attempt_number >= standing.max_attempts:
        return Decision(EventStatus.FAILED, reply.error_code, reply.status)
    wait = wait_seconds(standing.attempt_number, at_least_seconds=reply.retry_after_seconds or 0.0, dice=dice)
    return Decision(EventStatus.PENDING, reply.error_code, reply.status, wait)


def after_bug() -> Decision:
    """Our own code failed: trying again would only hide it."""
    return Decision(EventStatus.FAILED, BUG)


def given_back() -> Decision:
    """Nothing was begun: back to its place, uncounted."""
    return Decision(EventStatus.PENDING, refund=1)


def after_loss(standing: Standing, dice: random.Random) -> Decision:
    """The dispatcher that held it died. The first time that costs the event nothing, since most likely another one
    was the reason; from then on it counts, so that an event that kills dispatchers comes to an end."""
    if not standing.suspect:
        return Decision(EventStatus.PENDING, LOST, wait_seconds=0.0, refund=1, suspect=True)
    if standing.attempt_number >= standing.max_attempts:
        return Decision(EventStatus.FAILED, LOST)
    return Decision(
        EventStatus.PENDING, LOST, wait_seconds=wait_seconds(standing.attempt_number, dice=dice), suspect=True
    )
