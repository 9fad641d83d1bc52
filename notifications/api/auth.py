"""Who is asking."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from django.conf import settings
from rest_framework.request import Request

from notifications import accounts
from notifications.models import ActorKind, ApiKey, Client
from notifications.models.client import Scope
from notifications.services import Actor
from notifyq.rest.auth import BearerAuthentication, Caller
from notifyq.rest.problem import too_many_requests
from notifyq.rest.view import add_headers
from ratelimits.requests import count_request

SENDERS = frozenset({Scope.SEND, Scope.OPERATE})
OWNERS = frozenset({Scope.SEND})
"""For what is only ever done to one's own, such as what shows a secret: `operate` is not enough."""
READERS = frozenset({Scope.SEND, Scope.READ, Scope.OPERATE})
INBOX_KEEPERS = frozenset({Scope.SEND, Scope.INBOX})
"""Who may mark as read, always of its own client alone: an operator who looks must not read for the users of others."""
INBOX_READERS = INBOX_KEEPERS | {Scope.OPERATE}
OPERATORS = frozenset({Scope.OPERATE})


@dataclass(frozen=True, slots=True)
class KeyHolder:
    """The holder of a valid key; stands in `request.user`."""

    key: ApiKey
    is_authenticated: bool = True

    @property
    def client(self) -> Client:
        """The producer the key belongs to; what it creates is this client's."""
        return self.key.client

    @property
    def scopes(self) -> frozenset[str]:
        return frozenset(self.key.scopes)

    @property
    def sees(self) -> Client | None:
        """Whose notifications it may see: its own client's, or everybody's (None) when it may operate."""
        return None if Scope.OPERATE in self.key.scopes else self.key.client

    @property
    def name(self) -> str:
        """For the record of who did something: the client's name and the public beginning of the key."""
        return f"{self.key.client.name} ({self.key.prefix})"

    @property
    def actor(self) -> Actor:
        """Who acts, for the record."""
        return Actor(ActorKind.API_KEY, self.key.prefix)

    @property
    def operator(self) -> Actor | None:
        """The same for whoever may operate: what a client does with its own is not recorded."""
        return self.actor if Scope.OPERATE in self.key.scopes else None

    def __str__(self) -> str:
        return str(self.key)


class KeyAuthentication(BearerAuthentication):
    """Bearer keys as `notifications.accounts` made them. Every request with a valid key counts against its limit, also
    one that is refused afterwards."""

    def authenticate(self, request: Request) -> tuple[Caller, None] | None:
        """
        Raises:
            Problem: 429, the key has used up its requests.
        """
        found = super().authenticate(request)
        per_minute = settings.NOTIFYQ.requests_per_key_per_minute
        if found is not None and per_minute:
            allowance = count_request(cast("KeyHolder", found[0]).key.pk, per_minute)
            add_headers(request, allowance.headers())
            if not allowance.allowed:
                raise too_many_requests(allowance.retry_after_seconds)
        return found

    def caller(self, key: str) -> KeyHolder | None:
        try:
            return KeyHolder(accounts.authenticate(key))
        except accounts.KeyRefused:
            return None
