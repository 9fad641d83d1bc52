"""Who is asking."""

from __future__ import annotations

from dataclasses import dataclass

from notifications import accounts
from notifications.models import ActorKind, ApiKey, Client
from notifications.models.client import Scope
from notifications.services import Actor
from notifyq.rest.auth import BearerAuthentication

SENDERS = frozenset({Scope.SEND, Scope.OPERATE})
READERS = frozenset({Scope.SEND, Scope.READ, Scope.OPERATE})
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
    """Bearer keys as `notifications.accounts` made them."""

    def caller(self, key: str) -> KeyHolder | None:
        try:
            return KeyHolder(accounts.authenticate(key))
        except accounts.KeyRefused:
            return None
